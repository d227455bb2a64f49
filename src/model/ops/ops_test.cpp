// Every fast operation against its plain twin: values and gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "model/ops/activation.h"
#include "model/ops/attention.h"
#include "model/ops/cpu_rows.h"
#include "model/ops/dropout_hash.h"
#include "model/ops/linear.h"
#include "model/ops/projection_loss.h"
#include "model/ops/residual_norm.h"

namespace tandem {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;

Dropout sample_dropout(std::int64_t rows, double rate) {
  Tensor keys = at::empty({rows}, at::kLong);
  for (std::int64_t i = 0; i < rows; ++i) {
    keys[i] = static_cast<std::int64_t>(token_key(3, 4, 5, static_cast<std::int32_t>(i)));
  }
  return {rate, std::uint64_t{9} << 16, keys};
}

Tensor leaf(at::IntArrayRef shape) {
  Tensor x = at::randn(shape);
  x.set_requires_grad(true);
  return x;
}

double error(const Tensor& got, const Tensor& expected) {
  return ((got - expected).abs().max() / expected.abs().max().clamp_min(1e-30)).item<double>();
}

// Runs both and compares results and the gradients of all leaves under random weights.
template <class Fast, class Plain>
void expect_equal(const std::vector<Tensor>& leaves, Fast fast, Plain plain) {
  const auto run = [&](auto op) {
    for (Tensor x : leaves) x.mutable_grad() = Tensor();
    Tensor out = op();
    at::manual_seed(1);
    (out * at::randn_like(out)).sum().backward();
    std::vector<Tensor> results{out.detach()};
    for (const Tensor& x : leaves) results.push_back(x.grad().clone());
    return results;
  };
  const auto got = run(fast), expected = run(plain);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_LT(error(got[i], expected[i]), 1e-5) << i;
}

Tensor offsets_of(const std::vector<std::int32_t>& lengths) {
  Tensor offsets = at::zeros({static_cast<std::int64_t>(lengths.size()) + 1}, at::kInt);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    offsets[static_cast<std::int64_t>(i) + 1] =
        offsets[static_cast<std::int64_t>(i)].item<std::int32_t>() + lengths[i];
  }
  return offsets;
}

TEST(Ops, SelfAttentionEqualsThePaddedOne) {
  const Tensor offsets = offsets_of({1, 7, 33, 2, 18, 1});
  for (const bool causal : {false, true}) {
    for (const double rate : {0.0, 0.25}) {
      const Tensor qkv = leaf({62, 3 * 24});
      const AttentionSpec spec{4, causal, offsets, offsets, sample_dropout(62, rate)};
      expect_equal(
          {qkv}, [&] { return self_attention(qkv, spec); },
          [&] { return self_attention_plain(qkv, spec); });
    }
  }
}

TEST(Ops, CrossAttentionEqualsThePaddedOne) {
  for (const double rate : {0.0, 0.25}) {
    const Tensor q = leaf({16, 32}), kv = leaf({49, 64});
    const AttentionSpec spec{2, false, offsets_of({3, 1, 12}), offsets_of({5, 40, 4}),
                             sample_dropout(16, rate)};
    expect_equal(
        {q, kv}, [&] { return cross_attention(q, kv, spec); },
        [&] { return cross_attention_plain(q, kv, spec); });
  }
}

TEST(Ops, AttentionStandsLargeScores) {
  const Tensor offsets = offsets_of({40});
  const Tensor qkv = at::randn({40, 3 * 16}) * 60;
  const AttentionSpec spec{1, false, offsets, offsets, {}};
  const auto parts = qkv.chunk(3, 1);
  EXPECT_LT(error(self_attention(qkv, spec), attention_plain(parts[0], parts[1], parts[2], spec)),
            1e-4);
}

TEST(Ops, ResidualNormEqualsThePlainOne) {
  for (const double rate : {0.0, 0.3}) {
    const Tensor x = leaf({300, 40}), y = leaf({300, 40}), bias = leaf({40});
    const NormWeights norm{leaf({40}), leaf({40})};
    const Dropout drop = sample_dropout(300, rate);
    const auto both = [](const ResidualNorm& r) { return at::cat({r.sum, r.normed}); };
    const auto normed = [](const ResidualNorm& r) { return r.normed; };
    for (const auto& part : {std::function<Tensor(const ResidualNorm&)>(both), {normed}}) {
      expect_equal(
          {x, y, bias, norm.weight, norm.bias},
          [&] { return part(residual_norm(x, y * 1, bias, drop, norm)); },
          [&] { return part(residual_norm_plain(x, y, bias, drop, norm)); });
    }
  }
}

TEST(Ops, BiasActivationDropoutEqualsThePlainOne) {
  for (const Activation activation : {Activation::relu, Activation::gelu}) {
    for (const double rate : {0.0, 0.3}) {
      const Tensor x = leaf({900, 37}), bias = leaf({37});  // two tasks, rows of no whole vectors
      const Dropout drop = sample_dropout(900, rate);
      expect_equal(
          {x, bias}, [&] { return bias_activation_dropout(x * 1, bias, activation, drop); },
          [&] { return bias_activation_dropout_plain(x, bias, activation, drop); });
    }
  }
}

TEST(Ops, GeluRowsAreExact) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::vector<float> x;
  for (int i = -12000; i <= 12000; ++i) x.push_back(static_cast<float>(i) / 1000);
  const std::size_t finite = x.size();
  for (const float far : {-kInfinite, -1e30f, 1e30f, kInfinite, std::nanf("")}) x.push_back(far);
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<float> ones(x.size(), 1), zeros(x.size());
  std::vector<float> values = x, slopes(x.size());
  rows::gelu(values.data(), n);
  rows::gelu_backward(slopes.data(), ones.data(), x.data(), zeros.data(), {}, n);
  double worst_value = 0, worst_share = 0, worst_slope = 0;
  for (std::size_t i = 0; i < finite; ++i) {
    const double at = static_cast<double>(x[i]);
    // erfc where 1 + erf would cancel.
    const double below = at < 0 ? std::erfc(-at * std::numbers::sqrt2 / 2) / 2
                                : (1 + std::erf(at * std::numbers::sqrt2 / 2)) / 2;
    const double density = std::exp(-at * at / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const double error = std::abs(static_cast<double>(values[i]) - at * below);
    worst_value = std::max(worst_value, error);
    worst_share = std::max(worst_share, error / std::max(std::abs(at * below), 1e-300));
    worst_slope =
        std::max(worst_slope, std::abs(static_cast<double>(slopes[i]) - (below + at * density)));
  }
  EXPECT_LT(worst_value, 3e-7);
  EXPECT_LT(worst_share, 1e-5);  // far tails keep their digits
  EXPECT_LT(worst_slope, 3e-7);
  const auto far = [&](const std::vector<float>& all) {
    return std::vector<float>(all.end() - 5, all.end() - 1);
  };
  EXPECT_THAT(far(values),
              ElementsAre(FloatNear(0, 1e-30f), FloatNear(0, 1e-30f), 1e30f, kInfinite));
  EXPECT_THAT(far(slopes), ElementsAre(FloatNear(0, 1e-30f), FloatNear(0, 1e-30f), 1, 1));
  EXPECT_TRUE(std::isnan(values.back()));
  EXPECT_TRUE(std::isnan(slopes.back()));
}

TEST(Ops, LinearEqualsThePlainOne) {
  // Sizes around whole blocks of rows, depth and columns.
  for (const auto& [rows, depth, columns] : {std::array{48, 16, 16},
                                             {53, 40, 48},
                                             {100, 272, 32},
                                             {61, 512, 288},
                                             {390, 528, 496},
                                             {1100, 128, 96},
                                             {600, 64, 1040},
                                             {7, 32, 32}}) {
    const Tensor x = leaf({rows, depth}), weight = leaf({columns, depth}), bias = leaf({columns});
    expect_equal(
        {x, weight, bias}, [&] { return linear(x, weight, bias, at::kFloat); },
        [&] { return at::linear(x, weight, bias); });
    expect_equal(
        {x, weight}, [&] { return linear(x, weight, {}, at::kFloat); },
        [&] { return at::linear(x, weight); });
  }
}

TEST(Ops, ProjectionLossInChunksEqualsThePlainOneInFp64) {
  const std::int64_t tokens = 300, words = 60001, rows = 60008;  // 69 tokens a chunk
  const Tensor targets = at::randint(0, words, {tokens}, at::kInt);
  for (const auto& [smoothing, scale] : {std::array{0.0, 3.0}, {0.1, 3.0}, {0.1, 1.0}}) {
    const Tensor hidden = leaf({tokens, 8}), weight = leaf({rows, 8});
    Tensor exact_hidden = hidden.detach().to(at::kDouble),
           exact_weight = weight.detach().to(at::kDouble);
    exact_hidden.set_requires_grad(true);
    exact_weight.set_requires_grad(true);
    const ProjectionSetting setting{words, smoothing, at::kFloat};
    const TokenLoss got = projection_loss(hidden, weight, targets, setting);
    const TokenLoss expected = projection_loss_plain(exact_hidden, exact_weight, targets, setting);
    (got.sum * scale).backward();
    (expected.sum * scale).backward();
    EXPECT_NEAR(got.sum.item<double>() / expected.sum.item<double>(), 1, 1e-6);
    EXPECT_NEAR(got.nll.item<double>() / expected.nll.item<double>(), 1, 1e-6);
    // A product in fp32 over 60,001 words: rounding grows with their number.
    EXPECT_LT(error(hidden.grad(), exact_hidden.grad()), 2e-4);
    EXPECT_LT(error(weight.grad(), exact_weight.grad()), 2e-5);
  }
}

}  // namespace
}  // namespace tandem
