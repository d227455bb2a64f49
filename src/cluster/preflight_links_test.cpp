#include "cluster/preflight_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kFullGigabit = 117.5e6;

PredictInput input_of(double goodput, double values = 63e6) {
  PredictInput input;
  input.facts.compute = compute_of(0.15);
  for (int i = 0; i < 100; ++i) input.facts.pieces.push_back({values / 100, i / 99.0});
  input.facts.tokens = 16384;
  input.shape = {2, 2};
  input.link = {goodput, 2e-4};
  return input;
}

HostFacts host_of(const std::string& name, std::int64_t mbps, Duplex duplex,
                  NicKind kind = NicKind::wired) {
  HostFacts f;
  f.host = name;
  f.nic = NicFacts{"eth0", kind, mbps, duplex, 1500, true};
  return f;
}

LinkTable link_of(double both, double there_alone, double back_alone) {
  LinkRow row{{0, 1}, "host-a", "host-b", {}};
  row.link.there_both = row.link.back_both = both;
  row.link.there_alone = there_alone;
  row.link.back_alone = back_alone;
  return {row};
}

std::vector<std::string> warnings(const std::vector<HostFacts>& hosts, const LinkTable& links,
                                  Scheme scheme = Scheme::flat_fp16, double values = 63e6) {
  const PredictInput input = input_of(summary_of(links).bytes_per_second, values);
  return link_warnings(hosts, links, input, predict(scheme, input));
}

TEST(PreflightLinks, ASlowPortIsNamedWithWhatItCosts) {
  EXPECT_THAT(
      warnings({host_of("host-a", 1000, Duplex::full), host_of("host-b", 100, Duplex::half)},
               link_of(5.9e6, 11.75e6, 11.75e6)),
      ElementsAre("eth0 on host-b runs at 100 Mbps half duplex: steps will take 32 s instead of "
                  "1.78 s; ask for 1 Gbps full duplex",
                  HasSubstr("2 hosts will be slower than one")));
}

TEST(PreflightLinks, AGoodLinkIsNotTalkedAbout) {
  const std::vector<HostFacts> hosts{host_of("host-a", 10000, Duplex::full),
                                     host_of("host-b", 10000, Duplex::full)};
  const double good = 10 * kFullGigabit;
  EXPECT_THAT(warnings(hosts, link_of(good, good, good), Scheme::exact_bf16, 5e6), IsEmpty());
}

TEST(PreflightLinks, ASlowPortThatDoesNotMatterIsSaidToBeHarmless) {
  EXPECT_THAT(
      warnings({host_of("host-a", 100, Duplex::full), host_of("host-b", 1000, Duplex::full)},
               link_of(11.75e6, 11.75e6, 11.75e6), Scheme::exact_bf16, 5e4),
      ElementsAre(
          AllOf(HasSubstr("eth0 on host-a runs at 100 Mbps"), HasSubstr("does not suffer"))));
}

TEST(PreflightLinks, AHubIsFoundByMeasurement) {
  EXPECT_THAT(
      warnings({host_of("host-a", 1000, Duplex::full), host_of("host-b", 1000, Duplex::full)},
               link_of(5.9e6, 11.75e6, 11.75e6), Scheme::exact_bf16)
          .front(),
      AllOf(HasSubstr("between host-a and host-b"), HasSubstr("half duplex, a hub or Wi-Fi")));
}

TEST(PreflightLinks, ASlowerSwitchIsFoundByMeasurement) {
  EXPECT_THAT(
      warnings({host_of("host-a", 1000, Duplex::full), host_of("host-b", 1000, Duplex::full)},
               link_of(11.7e6, 11.7e6, 11.7e6), Scheme::exact_bf16)
          .front(),
      AllOf(HasSubstr("carries 94 Mbps, although eth0 on host-a says 1 Gbps"),
            HasSubstr("instead of")));
}

TEST(PreflightLinks, OneSlowDirectionIsNamed) {
  LinkTable links = link_of(11.7e6, 11.7e6, 117e6);
  links.front().link.back_both = 117e6;
  EXPECT_THAT(
      warnings({host_of("host-a", 1000, Duplex::full), host_of("host-b", 1000, Duplex::full)},
               links, Scheme::exact_bf16)
          .front(),
      HasSubstr("94 Mbps from host-a, but 936 Mbps back"));
}

TEST(PreflightLinks, AVirtualInterfacesSpeedIsNotBelieved) {
  const auto veth = [](const char* name) {
    return host_of(name, 10000, Duplex::full, NicKind::virtual_wire);
  };
  EXPECT_THAT(
      warnings({veth("host-a"), veth("host-b")}, link_of(11.7e6, 11.7e6, 11.7e6),
               Scheme::exact_bf16)
          .front(),
      AllOf(HasSubstr("the link between host-a and host-b is the limit: it carries 94 Mbps"),
            HasSubstr("ask for 1 Gbps")));
}

TEST(PreflightLinks, ClocksThatDifferAreNamed) {
  LinkTable links = link_of(10 * kFullGigabit, 10 * kFullGigabit, 10 * kFullGigabit);
  links.front().link.clock_ahead_seconds = -3.25;
  const std::vector<HostFacts> hosts{host_of("host-a", 10000, Duplex::full),
                                     host_of("host-b", 10000, Duplex::full)};
  EXPECT_THAT(warnings(hosts, links, Scheme::exact_bf16, 5e6),
              ElementsAre(HasSubstr("clock of host-b is 3.2 s behind that of host-a")));
}

TEST(PreflightLinks, TheNextWireIsTenTimesFaster) {
  EXPECT_EQ(better_wire(11.7e6), 1e9);
  EXPECT_EQ(better_wire(117e6), 1e10);
  EXPECT_EQ(better_wire(1170e6), 1e11);
}

}  // namespace
}  // namespace tandem
