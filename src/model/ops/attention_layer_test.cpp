// Attention with its products against the plain twin: values and gradients.
#include "model/ops/attention_layer.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/ops/dropout_hash.h"
#include "model/ops/linear.h"

namespace tandem {
namespace {

// Of a size that keeps products near one: sharp weights of attention would magnify rounding.
Tensor grown(at::IntArrayRef shape, double size = 1) {
  Tensor x = at::randn(shape) * size;
  x.set_requires_grad(true);
  return x;
}

// Sentences of 1 to 40 tokens; more rows than a block has.
Tensor many_offsets(std::int64_t sentences, std::int32_t odd) {
  Tensor offsets = at::zeros({sentences + 1}, at::kInt);
  auto* at = offsets.mutable_data_ptr<std::int32_t>();
  for (std::int64_t i = 0; i < sentences; ++i) {
    at[i + 1] = at[i] + 1 + static_cast<std::int32_t>(i * odd % 40);
  }
  return offsets;
}

std::int64_t rows_of(const Tensor& offsets) {
  return offsets[-1].item<std::int64_t>();
}

AttentionInput input_of(const Tensor& x, std::int64_t columns) {
  return {x, grown({columns, x.size(1)}, 0.1), grown({columns})};
}

Dropout drop_of(std::int64_t rows, double rate) {
  Tensor keys = at::empty({rows}, at::kLong);
  for (std::int64_t i = 0; i < rows; ++i) {
    keys[i] = static_cast<std::int64_t>(token_key(5, 6, 7, static_cast<std::int32_t>(i)));
  }
  return {rate, std::uint64_t{3} << 16, keys};
}

// The result and the gradients of all leaves under random weights.
template <class Layer>
std::vector<Tensor> run(const std::vector<Tensor>& leaves, const Layer& layer) {
  for (Tensor x : leaves) x.mutable_grad() = Tensor();
  const Tensor out = layer();
  at::manual_seed(1);
  (out * at::randn_like(out)).sum().backward();
  std::vector<Tensor> results{out.detach()};
  for (const Tensor& x : leaves) {
    check(x.grad().defined(), "a leaf has no gradient");
    results.push_back(x.grad().clone());
  }
  return results;
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& expected,
                  double limit) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Tensor most = (got[i] - expected[i]).abs().max() / expected[i].abs().max();
    EXPECT_LE(most.item<double>(), limit) << i;
  }
}

TEST(AttentionLayer, OfASentenceItselfEqualsThePlainOne) {
  for (const std::int64_t sentences : {2, 60}) {  // few rows: operations one by one
    for (const bool causal : {false, true}) {
      for (const double rate : {0.0, 0.25}) {
        const Tensor offsets = many_offsets(sentences, 17);
        const AttentionInput qkv = input_of(grown({rows_of(offsets), 64}), 3 * 64);
        const Tensor out = grown({64, 64});
        const AttentionSpec spec{4, causal, offsets, offsets, drop_of(rows_of(offsets), rate)};
        const std::vector<Tensor> leaves{qkv.x, qkv.weight, qkv.bias, out};
        expect_close(
            run(leaves, [&] { return self_attention_layer(qkv, out, spec, at::kFloat); }),
            run(leaves, [&] { return self_attention_layer_plain(qkv, out, spec, at::kFloat); }),
            1e-5);
      }
    }
  }
}

struct CrossCase {
  explicit CrossCase(double rate)
      : q_offsets(many_offsets(70, 17)),
        k_offsets(many_offsets(70, 29)),
        q(input_of(grown({rows_of(q_offsets), 32}), 32)),
        kv(input_of(grown({rows_of(k_offsets), 32}), 2 * 32)),
        spec{2, false, q_offsets, k_offsets, drop_of(rows_of(q_offsets), rate)} {}
  std::vector<Tensor> leaves() const {
    return {q.x, q.weight, q.bias, kv.x, kv.weight, kv.bias, out};
  }
  std::vector<Tensor> results() const {
    return run(leaves(), [&] { return cross_attention_layer(q, kv, out, spec, at::kFloat); });
  }

  Tensor q_offsets, k_offsets, out = grown({32, 32});
  AttentionInput q, kv;
  AttentionSpec spec;
};

TEST(AttentionLayer, OfAnotherSentenceEqualsThePlainOne) {
  for (const double rate : {0.0, 0.25}) {
    const CrossCase c(rate);
    expect_close(
        c.results(),
        run(c.leaves(),
            [&] { return cross_attention_layer_plain(c.q, c.kv, c.out, c.spec, at::kFloat); }),
        1e-5);
  }
}

TEST(AttentionLayer, ThreadsChangeNoBit) {
  const CrossCase c(0.25);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto one = c.results();
  at::set_num_threads(3);
  const auto three = c.results();
  at::set_num_threads(threads);
  expect_close(three, one, 0);
}

TEST(AttentionLayer, BitsAreThoseOfSeparateOperations) {
  const CrossCase c(0.25);
  const auto expected = run(c.leaves(), [&] {
    const Tensor q = linear(c.q.x, c.q.weight, c.q.bias, at::kFloat);
    const Tensor kv = linear(c.kv.x, c.kv.weight, c.kv.bias, at::kFloat);
    return linear(cross_attention(q, kv, c.spec), c.out, {}, at::kFloat);
  });
  const auto got = c.results();
  const auto leaves = c.leaves();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool of_bias = i > 0 && leaves[i - 1].dim() == 1;  // summed in another order
    EXPECT_TRUE(of_bias || got[i].equal(expected[i])) << i;
  }
}

}  // namespace
}  // namespace tandem
