#include "cluster/leader_link.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cluster/rank_threads.h"

namespace tandem {
namespace {

constexpr std::int64_t kHosts = 3, kBuckets = 4, kSize = kHosts * 1000;

std::vector<Bucket> some_buckets() {
  return cut_evenly(kBuckets * kSize, kBuckets);
}

TEST(LeaderLink, OfMoreThanTwoHostsTheNextSumIsOnItsWayBeforeThisOneIsWaitedFor) {
  run_ranks({0, 1, 2}, [](Comm& comm, Store&) {
    const at::Tensor numbers = at::full({kBuckets * kSize}, comm.rank() + 1.0);
    const std::vector<Bucket> buckets = some_buckets();
    const std::vector<GradRange> slots = {{0, numbers.numel()}};
    const auto link = leader_link(
        comm, numbers, {LinkFormat::fp32, LinkCargo::gradients, slots, buckets, kBuckets});
    const auto bytes = [&](std::int64_t from, std::int64_t to) {
      return 4 * (buckets[static_cast<std::size_t>(to)].end -
                  buckets[static_cast<std::size_t>(from)].begin);
    };
    for (const Bucket& bucket : buckets) link->post(bucket);
    // A host sends two thirds of each bucket to those who add it up, and twice the third that it
    // adds up itself.
    const double posted = 2.0 / 3 * static_cast<double>(bytes(0, kBuckets - 1));
    EXPECT_NEAR(static_cast<double>(link->bytes_out()), posted, 64);
    for (std::int64_t i = 0; i < kBuckets; ++i) {
      link->complete(buckets[static_cast<std::size_t>(i)]);
      const double shared = 2.0 / 3 * static_cast<double>(bytes(0, std::min(i + 1, kBuckets - 1)));
      EXPECT_NEAR(static_cast<double>(link->bytes_out()), posted + shared, 128);
    }
    EXPECT_TRUE(at::equal(numbers, at::full_like(numbers, 6)));
    comm.barrier();
  });
}

TEST(LeaderLink, WhatWasSentOfAChangeIsThereUntilItIsComplete) {
  run_ranks({0, 1, 2}, [](Comm& comm, Store&) {
    const at::Tensor numbers = at::full({kBuckets * kSize}, comm.rank() + 1.0);
    const std::vector<Bucket> buckets = some_buckets();
    const std::vector<GradRange> slots = {{0, numbers.numel()}};
    const auto link =
        leader_link(comm, numbers, {LinkFormat::int8, LinkCargo::changes, slots, buckets, 2});
    const auto part = [&](std::size_t i) {
      return numbers.narrow(0, buckets[i].begin, buckets[i].size());
    };
    for (std::size_t i = 0; i + 1 < buckets.size(); i += 2) {
      for (const std::size_t next : {i, i + 1}) link->post(buckets[next]);
      for (const std::size_t next : {i, i + 1}) {
        part(next).zero_();
        link->take_sent(buckets[next]);
        EXPECT_LT((part(next) - (comm.rank() + 1)).abs().max().item<double>(), 0.02);
        link->complete(buckets[next]);
        EXPECT_LT((part(next) - 6).abs().max().item<double>(), 0.1);
      }
    }
    comm.barrier();
  });
}

}  // namespace
}  // namespace tandem
