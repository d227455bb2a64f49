#include "cluster/host_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "base/json.h"
#include "cluster/job_token.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

TEST(HostProbe, AStrangerIsToldOf) {
  std::promise<std::string> told;
  const auto store = memory_store();
  ProbeTask task;
  task.token = random_token().bytes;
  task.host_name = "host-a";
  task.candidates = {{"eth0", "127.0.0.1", true, false, 0}};
  task.on_refused = [&](const std::string& text) { told.set_value(text); };
  const auto hub = probe_hosts(task, *store);

  const Json offer = Json::parse(store->get("probe/0/offer", 1s), "the offer");
  const auto port = static_cast<int>(offer.at("offers").items().at(0).at("port").as_int());
  std::string problem;
  const auto soon = std::chrono::steady_clock::now() + 10s;
  call({"127.0.0.1", port}, random_token().bytes, {Purpose::probe, 0, 1}, soon, problem);
  auto text = told.get_future();
  ASSERT_EQ(text.wait_for(10s), std::future_status::ready);
  EXPECT_THAT(text.get(), AllOf(HasSubstr("port for trying addresses: refused 1 connection"),
                                HasSubstr("from 127.0.0.1")));
}

}  // namespace
}  // namespace tandem
