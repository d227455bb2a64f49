#include <gtest/gtest.h>

#include "report/synthetic_run.h"
#include "report/watch/chart.h"
#include "report/watch/watch_screen.h"

namespace tandem {
namespace {

int columns_of_line(const ScreenLine& line) {
  int columns = 0;
  for (const Piece& piece : line) columns += columns_of(piece.text);
  return columns;
}

RunReport report() {
  SyntheticRun run;
  RunLog log = run.log();
  log.events.push_back({1.7e9, {5, "warning", "a \x1b[31mred\r\nline <b>, 漢字漢字漢字"}});
  return report_of("runs/a-name", std::move(log));
}

TEST(Cells, CountColumnsAndDisarmControlCharacters) {
  EXPECT_EQ(columns_of("aé漢"), 4);
  EXPECT_EQ(cut("a\x1b[2J\nb", 20), "a?[2J?b");
  EXPECT_EQ(cut("漢字漢字", 5), "漢字…");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(padded("漢", 4), "漢  ");
}

TEST(Chart, HasTheSizeItWasAskedForAndItsBounds) {
  ChartCurve curve;
  for (int i = 0; i <= 40; ++i) curve.points.emplace_back(i, i);
  const auto rows = braille_chart(curve, 40, 6);
  ASSERT_EQ(rows.size(), 6u);
  for (const std::string& row : rows) EXPECT_EQ(columns_of(row), 40);
  EXPECT_NE(rows.front().find("40"), std::string::npos);
  EXPECT_NE(rows.front().substr(rows.front().size() - 3), "   ");  // the curve ends at the top
}

TEST(Chart, NothingAndNotANumberDrawNothing) {
  EXPECT_EQ(braille_chart({}, 30, 5).size(), 5u);
  EXPECT_EQ(braille_chart({{{1, NAN}, {2, NAN}}}, 30, 5).size(), 5u);
}

TEST(WatchScreen, FitsEveryScreen) {
  const RunReport r = report();
  for (const WatchView view :
       {WatchView::overview, WatchView::answers, WatchView::events, WatchView::workers}) {
    for (const auto& [columns, rows] : {std::pair{80, 24}, {100, 30}, {200, 60}}) {
      const Screen screen = watch_screen(r, {view, false, 1.7e9 + 5000}, columns, rows);
      ASSERT_EQ(static_cast<int>(screen.size()), rows);
      for (const ScreenLine& line : screen) EXPECT_LE(columns_of_line(line), columns + 2);
      const std::string text = plain_text(screen);
      EXPECT_EQ(text.find('\x1b'), std::string::npos);
      EXPECT_NE(text.find("a-name"), std::string::npos);
    }
  }
}

TEST(WatchScreen, ShowsWhatIsAskedOfIt) {
  const std::string text = plain_text(watch_screen(report(), {}, 80, 24));
  for (const char* part : {"training loss", "validation loss", "forward", "backward", "host",
                           "ended", "Is it fully trained?", "tokens/s", "q quit"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// hosts with two workers each, the odd ones twice as quick.
RunReport report_of_hosts(int hosts) {
  SyntheticRun run;
  run.workers = 2 * hosts;
  RunLog log = run.log();
  Json placed = Json::array();
  const SystemRecord usual = log.systems.back().record;
  for (int host = 0; host < hosts; ++host) {
    SystemRecord sample = usual;
    sample.host = "host-" + std::to_string(host);
    sample.net_out_per_s = 6.25e6;
    sample.link_bits_per_s = 1e8;
    log.systems.push_back({log.last_time, sample});
    for (int i = 0; i < 2; ++i) {
      placed.push(Json::object().set("host", sample.host).set("device", "cpu"));
      log.workers.push_back({i == 0 ? 1.0 : 0.5, i == 0 ? 0 : 0.25, 1000, 1});
    }
  }
  std::erase_if(log.systems, [&](const auto& s) { return s.record.host == usual.host; });
  log.starts.back().record.facts.set("cluster", Json::object()
                                                    .set("workers", run.workers)
                                                    .set("hosts", hosts)
                                                    .set("by_rank", std::move(placed)));
  return report_of("runs/a-name", std::move(log));
}

TEST(WatchScreen, HasARowForEveryHostAndWorker) {
  const std::string text = plain_text(watch_screen(report_of_hosts(2), {}, 80, 24));
  for (const char* part : {"host-0", "host-1", "rank 0", "rank 3", "25 %", "50 %", "tokens/s",
                           "wait", "q quit", "Is it fully trained?"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(WatchScreen, SaysWhatOfManyHostsItCannotShow) {
  const RunReport r = report_of_hosts(8);
  const std::string small = plain_text(watch_screen(r, {}, 80, 24));
  EXPECT_NE(small.find("more rows"), std::string::npos) << small;
  const std::string all = plain_text(watch_screen(r, {WatchView::workers, false, 0}, 80, 40));
  EXPECT_NE(all.find("rank 15"), std::string::npos) << all;
}

TEST(WatchScreen, AnEmptyJournalIsNoFailure) {
  const Screen screen = watch_screen(report_of("x", RunLog{}), {}, 80, 24);
  EXPECT_EQ(screen.size(), 24u);
  EXPECT_NE(plain_text(screen).find("not begun"), std::string::npos) << plain_text(screen);
}

TEST(WatchScreen, ScrollsToTheLastAnswerAndNoFurther) {
  const RunReport r = report();
  WatchState state{.view = WatchView::answers};
  const auto text = [&] { return plain_text(watch_screen(r, state, 80, 24)); };
  const auto scroll = [&](int by) { state.from = scrolled(r, state, by, 80, 24); };
  EXPECT_EQ(text().find("\n11. "), std::string::npos) << text();
  scroll(1);
  EXPECT_EQ(state.from, 1);
  EXPECT_EQ(text().find("\n1. "), std::string::npos) << text();
  for (int page = 0; page < 10; ++page) scroll(scrolling_rows(24));
  EXPECT_NE(text().find("\n11. "), std::string::npos) << text();
  EXPECT_NE(text().find("a-name"), std::string::npos) << text();
  const Screen end = watch_screen(r, state, 80, 24);
  ASSERT_EQ(end.size(), 24u);
  EXPECT_GT(columns_of_line(end[22]), 0) << "nothing below the last line";
  scroll(-1000);
  EXPECT_EQ(state.from, 0);
}

TEST(WatchScreen, ALargerScreenShowsNoGapBelowWhatWasScrolled) {
  const RunReport r = report_of_hosts(8);
  WatchState state{.view = WatchView::workers};
  state.from = scrolled(r, state, 1000, 80, 24);
  EXPECT_GT(state.from, 0);
  const std::string text = plain_text(watch_screen(r, state, 80, 60));
  EXPECT_NE(text.find("rank 0"), std::string::npos) << text;
  EXPECT_NE(text.find("rank 15"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem
