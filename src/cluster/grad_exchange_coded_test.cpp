// GradExchange with formats that lose something on the way: int8 and int4.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cluster/block_codec.h"
#include "cluster/grad_exchange.h"
#include "cluster/rank_threads.h"

namespace tandem {
namespace {

constexpr std::int64_t kMatrix = 9000, kVector = 50;

// A large tensor and a small one.
struct Exchanged {
  explicit Exchanged(Comm& comm, LinkFormat format, bool as_on_gpu = false)
      : buffer(at::zeros({kMatrix + kVector})),
        leaf(at::zeros({1}).set_requires_grad(true)),
        exchange(comm, buffer, {{leaf, 0, kMatrix}, {leaf, kMatrix, kVector}},
                 {.format = format, .bucket_bytes = 16000, .as_on_gpu = as_on_gpu}) {}

  at::Tensor step(const at::Tensor& gradients) {
    buffer.copy_(gradients);
    double totals[1] = {0};
    stats = exchange.finish(totals);
    return buffer.clone();
  }

  at::Tensor buffer, leaf;
  GradExchange exchange;
  ExchangeStats stats;
};

at::Tensor gradients_of(int rank, int step) {
  const at::Tensor at_place = at::arange(kMatrix + kVector, at::kFloat);
  return (at_place * (0.37 + rank) + step).sin() * (at_place * 0.01).cos().pow(5);
}

at::Tensor sum_of(const std::vector<at::Tensor>& tensors) {
  at::Tensor sum = at::zeros({kMatrix + kVector}, at::kDouble);
  for (const at::Tensor& tensor : tensors) sum += tensor.to(at::kDouble);
  return sum;
}

double largest(const at::Tensor& tensor) {
  return tensor.abs().max().item<double>();
}

const std::vector<std::vector<int>> kWorlds = {{0, 1}, {0, 0, 1, 1}, {0, 1, 2}, {0, 0, 1, 2, 3}};

class CodedExchange : public testing::TestWithParam<LinkFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, CodedExchange,
                         testing::Values(LinkFormat::int8, LinkFormat::int4));

TEST_P(CodedExchange, WhatArrivesAndWhatIsKeptAreTheTrueSum) {
  for (const std::vector<int>& hosts : kWorlds) {
    const int ranks = static_cast<int>(hosts.size());
    std::vector<at::Tensor> arrived(hosts.size()), kept_by_all;
    run_ranks(hosts, [&](Comm& comm, Store&) {
      Exchanged worker(comm, GetParam());
      std::vector<at::Tensor> results;
      for (int step = 0; step < 6; ++step) {
        results.push_back(worker.step(gradients_of(comm.rank(), step)));
      }
      arrived[static_cast<std::size_t>(comm.rank())] = sum_of(results);
      const auto kept = worker.exchange.gather_kept();
      if (comm.rank() == 0) kept_by_all = kept;
      comm.barrier();
    });
    std::vector<at::Tensor> all;
    for (int step = 0; step < 6; ++step) {
      for (int rank = 0; rank < ranks; ++rank) all.push_back(gradients_of(rank, step));
    }
    const at::Tensor truth = sum_of(all);
    EXPECT_LT(largest(arrived[0] + sum_of(kept_by_all) - truth), 1e-5 * largest(truth));
    EXPECT_GT(largest(sum_of(kept_by_all)), 0);
    // The small tensor was sent as it is.
    EXPECT_LT(largest((arrived[0] - truth).narrow(0, kMatrix, kVector)), 1e-5 * largest(truth));
    for (const at::Tensor& other : arrived) EXPECT_TRUE(at::equal(other, arrived[0]));
  }
}

// Gradient descent on two hosts whose data pull a few weights far apart: their gradients stay large
// and cancel in the sum only, and beside them int4 rounds all others of a block to zero. Returns
// how far from the best weights it ends, as a part of how far it was.
double distance_after_descent(LinkFormat format, bool feedback) {
  constexpr double kRate = 0.05;
  constexpr int kSteps = 60;
  const at::Tensor at_place = at::arange(kMatrix + kVector, at::kFloat);
  const at::Tensor best = (at_place * 0.37 + 1).sin() * 0.3;
  const at::Tensor apart = at_place.remainder(32).eq(0) * (at_place * 0.11).cos() * 2;
  double distance = 0;
  run_ranks({0, 1}, [&](Comm& comm, Store&) {
    Exchanged worker(comm, format);
    const at::Tensor own_best = comm.rank() == 0 ? best + apart : best - apart;
    at::Tensor weights = at::zeros_like(best);
    for (int step = 0; step < kSteps; ++step) {
      weights = weights - kRate * worker.step(weights - own_best);
      if (feedback) continue;
      auto kept = worker.exchange.gather_kept();
      for (at::Tensor& tensor : kept) tensor.zero_();
      worker.exchange.restore_kept(kept);
    }
    if (comm.rank() == 0) distance = ((weights - best).norm() / best.norm()).item<double>();
    comm.barrier();
  });
  return distance;
}

TEST(CodedDescent, WhatInt4KeepsForTheNextStepMakesItArrive) {
  EXPECT_LT(distance_after_descent(LinkFormat::fp32, true), 0.005);
  EXPECT_LT(distance_after_descent(LinkFormat::int4, true), 0.05);
  EXPECT_GT(distance_after_descent(LinkFormat::int4, false), 0.3);
  // Finer steps lose less: without what is kept int8 ends where int4 does with it, or nearer.
  EXPECT_LT(distance_after_descent(LinkFormat::int8, false),
            distance_after_descent(LinkFormat::int4, false) / 5);
}

TEST_P(CodedExchange, AStepTakenBackLeavesNoTrace) {
  run_ranks({0, 1, 2}, [&](Comm& comm, Store&) {
    Exchanged worker(comm, GetParam());
    worker.step(gradients_of(comm.rank(), 0));
    const auto before = worker.exchange.gather_kept();
    worker.step(gradients_of(comm.rank(), 1) / 0.0);
    worker.exchange.take_back();
    const auto after = worker.exchange.gather_kept();
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(at::equal(before[i], after[i]));
    EXPECT_TRUE(worker.step(gradients_of(comm.rank(), 2)).isfinite().all().item<bool>());
    comm.barrier();
  });
}

TEST_P(CodedExchange, GoesOnFromWhatWasKept) {
  for (const std::vector<int>& hosts : kWorlds) {
    run_ranks(hosts, [&](Comm& comm, Store&) {
      at::Tensor straight;
      std::vector<at::Tensor> kept;
      {
        Exchanged worker(comm, GetParam());
        worker.step(gradients_of(comm.rank(), 0));
        kept = worker.exchange.gather_kept();
        straight = worker.step(gradients_of(comm.rank(), 1));
        comm.barrier();
      }
      Exchanged resumed(comm, GetParam());
      resumed.exchange.restore_kept(kept);
      EXPECT_TRUE(at::equal(resumed.step(gradients_of(comm.rank(), 1)), straight));
      comm.barrier();
    });
  }
}

// Places of what is kept take turns: after an even number of steps the restored one counts again.
TEST_P(CodedExchange, WhatIsKeptAfterGoingOnIsWhatAStraightRunKeeps) {
  for (const std::vector<int>& hosts : kWorlds) {
    run_ranks(hosts, [&](Comm& comm, Store&) {
      std::vector<at::Tensor> kept, straight;
      {
        Exchanged worker(comm, GetParam());
        worker.step(gradients_of(comm.rank(), 0));
        kept = worker.exchange.gather_kept();
        for (int step = 1; step < 3; ++step) worker.step(gradients_of(comm.rank(), step));
        straight = worker.exchange.gather_kept();
        comm.barrier();
      }
      Exchanged resumed(comm, GetParam());
      resumed.exchange.restore_kept(kept);
      for (int step = 1; step < 3; ++step) resumed.step(gradients_of(comm.rank(), step));
      const auto again = resumed.exchange.gather_kept();
      ASSERT_EQ(again.size(), straight.size());
      for (std::size_t i = 0; i < again.size(); ++i) EXPECT_TRUE(at::equal(again[i], straight[i]));
      comm.barrier();
    });
  }
}

TEST_P(CodedExchange, NumbersOfAGpuGetTheSameBits) {
  for (const std::vector<int>& hosts : kWorlds) {
    run_ranks(hosts, [&](Comm& comm, Store&) {
      std::vector<at::Tensor> direct, kept;
      {
        Exchanged worker(comm, GetParam());
        for (int step = 0; step < 3; ++step) {
          direct.push_back(worker.step(gradients_of(comm.rank(), step)));
        }
        comm.barrier();
      }
      {
        Exchanged worker(comm, GetParam(), true);
        for (std::size_t step = 0; step < 2; ++step) {
          const at::Tensor sum = worker.step(gradients_of(comm.rank(), static_cast<int>(step)));
          EXPECT_TRUE(at::equal(sum, direct[step])) << "step " << step;
        }
        kept = worker.exchange.gather_kept();
        comm.barrier();
      }
      Exchanged resumed(comm, GetParam(), true);
      resumed.exchange.restore_kept(kept);
      EXPECT_TRUE(at::equal(resumed.step(gradients_of(comm.rank(), 2)), direct[2]));
      comm.barrier();
    });
  }
}

TEST(WholeExchange, NumbersOfAGpuGetTheSameBits) {
  for (const LinkFormat format : {LinkFormat::fp32, LinkFormat::bf16}) {
    run_ranks({0, 0, 1, 1}, [&](Comm& comm, Store&) {
      std::vector<at::Tensor> sums;
      for (const bool as_on_gpu : {false, true}) {
        Exchanged worker(comm, format, as_on_gpu);
        sums.push_back(worker.step(gradients_of(comm.rank(), 0)));
        comm.barrier();
      }
      EXPECT_TRUE(at::equal(sums[0], sums[1]));
    });
  }
}

// A scale twice as large changes nothing but the scale, for what was lost before, too.
TEST_P(CodedExchange, WhatIsKeptFollowsTheLossScale) {
  for (const std::vector<int>& hosts : kWorlds) {
    run_ranks(hosts, [&](Comm& comm, Store&) {
      std::vector<at::Tensor> sums;
      for (const double scale : {1.0, 2.0}) {
        Exchanged worker(comm, GetParam());
        worker.step(gradients_of(comm.rank(), 0));
        worker.exchange.rescale(scale);
        sums.push_back(worker.step(gradients_of(comm.rank(), 1) * scale) / scale);
        comm.barrier();
      }
      EXPECT_TRUE(at::equal(sums[0], sums[1]));
    });
  }
}

TEST_P(CodedExchange, OnAnotherNumberOfHostsNothingKeptIsLost) {
  std::vector<at::Tensor> kept;
  run_ranks({0, 1, 2}, [&](Comm& comm, Store&) {
    Exchanged worker(comm, GetParam());
    worker.step(gradients_of(comm.rank(), 0));
    const auto gathered = worker.exchange.gather_kept();
    if (comm.rank() == 0) kept = gathered;
    comm.barrier();
  });
  run_ranks({0, 1}, [&](Comm& comm, Store&) {
    Exchanged worker(comm, GetParam());
    worker.exchange.restore_kept(comm.rank() == 0 ? kept : std::vector<at::Tensor>());
    const auto again = worker.exchange.gather_kept();
    if (comm.rank() == 0) {
      EXPECT_LT(largest(sum_of(again) - sum_of(kept)), 1e-5);
    }
    comm.barrier();
  });
}

TEST_P(CodedExchange, TwoHostsSendACodeForEachNumber) {
  const BlockCode code = GetParam() == LinkFormat::int8 ? BlockCode::int8 : BlockCode::int4;
  run_ranks({0, 0, 1, 1}, [&](Comm& comm, Store&) {
    Exchanged worker(comm, GetParam());
    worker.step(gradients_of(comm.rank(), 0));
    const std::int64_t expected = coded_bytes(code, kMatrix) + 4 * kVector;
    if (comm.world().is_leader()) {
      EXPECT_NEAR(static_cast<double>(worker.stats.bytes_out), static_cast<double>(expected), 12);
    }
    comm.barrier();
  });
}

}  // namespace
}  // namespace tandem
