#include "cluster/link_table.h"

#include <gtest/gtest.h>

#include <set>

namespace tandem {
namespace {

TEST(LinkTable, EveryHostIsMeasuredInFewRounds) {
  EXPECT_TRUE(probe_rounds(1).empty());
  for (int hosts = 2; hosts <= 65; ++hosts) {
    const auto rounds = probe_rounds(hosts);
    EXPECT_EQ(rounds.size(), hosts == 2 ? 1u : hosts % 2 == 0 ? 2u : 3u);
    std::set<int> seen;
    std::size_t pairs = 0;
    for (const auto& round : rounds) {
      std::set<int> busy;
      for (const HostPair& pair : round) {
        EXPECT_TRUE(busy.insert(pair.opening).second) << hosts;
        EXPECT_TRUE(busy.insert(pair.answering).second) << hosts;
        ++pairs;
      }
      seen.insert(busy.begin(), busy.end());
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(hosts));
    EXPECT_EQ(pairs, hosts == 2 ? 1u : static_cast<std::size_t>(hosts));  // a ring
  }
}

LinkRow row_of(double there, double back, double rtt) {
  LinkRow row{{0, 1}, "host-a", "host-b", {}};
  row.link.there_both = row.link.there_alone = there;
  row.link.back_both = row.link.back_alone = back;
  row.link.rtt_median_seconds = rtt;
  return row;
}

TEST(LinkTable, TheSlowestLinkCounts) {
  const LinkSummary all = summary_of({row_of(100e6, 90e6, 1e-4), row_of(80e6, 85e6, 3e-4)});
  EXPECT_EQ(all.bytes_per_second, 80e6);
  EXPECT_EQ(all.rtt_seconds, 3e-4);
  EXPECT_FALSE(all.shares_directions);
  EXPECT_EQ(summary_of({}).bytes_per_second, 0);
}

TEST(LinkTable, ALinkIsOneLine) {
  EXPECT_EQ(link_line(row_of(11.75e6, 117.5e6, 2.1e-4)),
            "host-a - host-b: 94 Mbps there and 940 Mbps back at once, 94 Mbps and 940 Mbps alone, "
            "round trip 0.21 ms");
}

TEST(LinkTable, JsonHasEveryRowWithItsHostsAndLink) {
  const LinkTable table{row_of(1, 2, 3), row_of(4, 5, 6)};
  const Json rows = link_table_json(table);
  ASSERT_EQ(rows.items().size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Json& row = rows.items()[i];
    EXPECT_EQ(row.at("opening").as_int(), table[i].pair.opening);
    EXPECT_EQ(row.at("answering").as_int(), table[i].pair.answering);
    EXPECT_EQ(row.at("opening_host").as_string(), "host-a");
    EXPECT_EQ(row.at("answering_host").as_string(), "host-b");
    EXPECT_EQ(row.at("link").dump(), link_json(table[i].link).dump());
  }
}

}  // namespace
}  // namespace tandem
