#include "cluster/link_probe_analysis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tandem {
namespace {

constexpr double kFast = 11.75e6;  // 100 Mbps of TCP payload

// Packets of 1448 bytes at a steady rate between two times.
void arrive(ArrivalWindows& windows, double from, double to, double bytes_per_second) {
  const double gap = 1448 / bytes_per_second;
  for (double at = from; at < to; at += gap) windows.add(at, 1448);
}

TEST(LinkProbeAnalysis, ASteadyLinkIsReadWithinOnePercent) {
  for (const double rate : {1e6, kFast, 117.5e6}) {
    ArrivalWindows windows(0.05);
    arrive(windows, 0.003, 0.9, rate);
    windows.end(0.9);
    EXPECT_NEAR(windows.bytes_per_second(0.2) / rate, 1, 0.03) << rate;
  }
}

TEST(LinkProbeAnalysis, TheStartAndOneStallDoNotCount) {
  ArrivalWindows windows(0.05);
  arrive(windows, 0.0, 0.1, 3 * kFast);  // saved-up credit
  arrive(windows, 0.1, 0.5, kFast);
  arrive(windows, 0.6, 0.9, kFast);  // nothing for 0.1 s
  windows.end(0.93);                 // the last window is not whole
  EXPECT_NEAR(windows.bytes_per_second(0.2) / kFast, 1, 0.03);
}

TEST(LinkProbeAnalysis, AVerySlowLinkIsReadByItsMean) {
  ArrivalWindows windows(0.05);
  for (const double at : {0.21, 0.41, 0.61, 0.81}) windows.add(at, 1000);
  windows.end(1.0);
  EXPECT_NEAR(windows.bytes_per_second(0.2), 5000, 1);
}

TEST(LinkProbeAnalysis, AShortPhaseStillGivesANumber) {
  ArrivalWindows windows(0.05);
  windows.add(0.01, 500);
  windows.end(0.1);
  EXPECT_NEAR(windows.bytes_per_second(0.2), 5000, 1);
  EXPECT_EQ(ArrivalWindows(0.05).bytes_per_second(0.2), 0);
}

LinkMeasure link_of(double there_both, double back_both, double there_alone, double back_alone) {
  LinkMeasure link;
  link.there_both = there_both;
  link.back_both = back_both;
  link.there_alone = there_alone;
  link.back_alone = back_alone;
  return link;
}

TEST(LinkProbeAnalysis, HalfDuplexIsToldFromFullDuplex) {
  EXPECT_FALSE(shares_directions(link_of(11.7, 11.6, 11.75, 11.75)));
  EXPECT_FALSE(shares_directions(link_of(9.5, 9.0, 11.75, 11.75)));  // a little contention
  EXPECT_TRUE(shares_directions(link_of(5.9, 5.8, 11.75, 11.75)));
  EXPECT_TRUE(shares_directions(link_of(8.0, 2.0, 11.75, 11.75)));  // unfair, as hubs are
  EXPECT_EQ(goodput_of(link_of(8.0, 2.0, 11.75, 11.75)), 2.0);
}

TEST(LinkProbeAnalysis, ALopsidedLinkIsNoticed) {
  EXPECT_TRUE(is_lopsided(link_of(1.2, 11.7, 1.25, 11.75)));
  EXPECT_FALSE(shares_directions(link_of(1.2, 11.7, 1.25, 11.75)));
  EXPECT_FALSE(shares_directions(link_of(2.3, 3.9, 2.4, 11.9)));
  EXPECT_FALSE(is_lopsided(link_of(10, 11, 10, 11)));
}

TEST(LinkProbeAnalysis, TheClockIsReadInTheMiddleOfTheRoundTrip) {
  EXPECT_NEAR(clock_ahead(100.0, 103.01, 0.02), 3.0, 1e-9);
  EXPECT_NEAR(clock_ahead(100.0, 98.01, 0.02), -2.0, 1e-9);
}

TEST(LinkProbeAnalysis, MedianOfAFew) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({5, 1, 3}), 3);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
}

TEST(LinkProbeAnalysis, JsonReadsBackToTheSame) {
  LinkMeasure link = link_of(1, 2, 3, 4);
  link.rtt_min_seconds = 1e-4;
  link.rtt_median_seconds = 2e-4;
  link.clock_ahead_seconds = -0.25;
  link.retransmits = 7;
  EXPECT_EQ(link_json(link_from_json(link_json(link))).dump(), link_json(link).dump());
}

}  // namespace
}  // namespace tandem
