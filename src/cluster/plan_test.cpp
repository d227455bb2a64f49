#include "cluster/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace tandem {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

PlanRequest request_of(ClusterShape shape, double bytes_per_second) {
  PlanRequest request;
  request.input.facts.compute = compute_of(0.15);
  for (int i = 0; i < 200; ++i) request.input.facts.pieces.push_back({63e6 / 200, i / 199.0});
  request.input.facts.tokens = 25000;
  request.input.shape = shape;
  request.input.link = {bytes_per_second, 2e-4};
  request.schemes = {Scheme::exact_bf16, Scheme::int8, Scheme::int4, Scheme::local_int8,
                     Scheme::local_int4};
  request.steps = 100000;
  request.price_per_host_hour = 3.0;
  request.currency = "EUR";
  request.error_band = 0.25;
  request.assumptions = {"compute: 0.150 s a step, as given"};
  return request;
}

TEST(Plan, TimeAndMoneyAreForTheSameTokens) {
  const Plan plan = make_plan(request_of({2, 2}, 1e12));  // the link costs nothing
  const PlanRow& alone = plan.rows.at(0);
  const PlanRow& both = plan.rows.at(1);
  EXPECT_NEAR(*alone.seconds_to_end, 100000 * 0.30, 1);
  EXPECT_NEAR(*both.seconds_to_end, 100000 * 0.15, 500);
  EXPECT_NEAR(*alone.cost, 30000 / 3600.0 * 3, 0.1);
  EXPECT_NEAR(*both.cost, *alone.cost, 0.5);  // half the time, twice the hosts
  EXPECT_EQ(plan.recommended, Scheme::exact_bf16);
}

TEST(Plan, WithoutAnEndOrAPriceThereIsNoTimeOrCost) {
  PlanRequest request = request_of({2, 2}, 1e8);
  request.price_per_host_hour = {};
  EXPECT_FALSE(make_plan(request).rows.front().cost.has_value());
  request.steps = {};
  EXPECT_FALSE(make_plan(request).rows.front().seconds_to_end.has_value());
  EXPECT_THAT(plan_json(make_plan(request)).dump(), HasSubstr("\"cost\":null"));
}

TEST(Plan, SaysWhenOneHostIsBetter) {
  PlanRequest request = request_of({2, 2}, 11.75e6);
  request.schemes = {Scheme::exact_bf16, Scheme::flat_fp16};
  const Plan plan = make_plan(request);
  EXPECT_EQ(plan.recommended, Scheme::one_host);
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("use one host")));
  EXPECT_THAT(plan_text(plan), AllOf(HasSubstr("* one host"), HasSubstr("flat ring fp16"),
                                     HasSubstr("25 %"), HasSubstr("EUR")));
}

TEST(Plan, SaysWhatItDoesNotModel) {
  PlanRequest request = request_of({1000, 8}, 1e9);
  EXPECT_THAT(make_plan(request).warnings, Contains(HasSubstr("3 target tokens a step")));
  request.input.facts.batch_is_global = false;
  request.input.facts.tokens = 1000.0 * 8 * 4000;
  const Plan plan = make_plan(request);
  EXPECT_THAT(plan.warnings,
              AllOf(Contains(HasSubstr("not modelled")), Not(Contains(HasSubstr("too few")))));
}

TEST(Plan, OneHostHasOneRow) {
  const Plan plan = make_plan(request_of({1, 2}, 0));
  EXPECT_EQ(plan.rows.size(), 1u);
  EXPECT_TRUE(plan.warnings.empty());
}

TEST(Plan, ThousandsOfWorkersAreAsQuickAsTwo) {
  const std::clock_t start = std::clock();  // processor time: other work does not count
  for (std::int64_t hosts = 2; hosts <= 4096; hosts *= 2) make_plan(request_of({hosts, 8}, 1e9));
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace tandem
