// tandem watch: a run on the whole terminal while it goes on, or once for scripts.
#include <chrono>
#include <cstdio>

#include "cli/verbs.h"
#include "report/report_json.h"
#include "report/run_log_reader.h"
#include "report/watch/terminal.h"
#include "report/watch/watch_screen.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

constexpr ReadSetting kForAScreen{.most_steps = 4000};
constexpr auto kBetweenLooks = 1000ms;

struct Options {
  std::string run;
  bool once = false, json = false;
  std::int64_t columns = 80, rows = 24;
};

double now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void print_once(const Options& options) {
  const RunLogReader reader(options.run, kForAScreen);
  const RunReport report = report_of(options.run, reader.log());
  const Screen screen =
      watch_screen(report, {WatchView::overview, false, now()}, static_cast<int>(options.columns),
                   static_cast<int>(options.rows));
  std::fputs(plain_text(screen).c_str(), stdout);
}

void watch(const Options& options) {
  RunLogReader reader(options.run, kForAScreen);
  RunReport report = report_of(options.run, reader.log());
  Terminal terminal;
  WatchState state;
  const auto scroll = [&](int lines) {
    state.from = scrolled(report, state, lines, terminal.columns(), terminal.rows());
  };
  for (;;) {
    state.now = now();
    terminal.draw(watch_screen(report, state, terminal.columns(), terminal.rows()));
    switch (terminal.wait_for_key(kBetweenLooks)) {
      case Key::quit:
        return;
      case Key::pause:
        state.paused = !state.paused;
        break;
      case Key::next_view:
        state.view = static_cast<WatchView>((static_cast<int>(state.view) + 1) % kWatchViews);
        state.from = 0;
        break;
      case Key::up:
        scroll(-1);
        break;
      case Key::down:
        scroll(1);
        break;
      case Key::page_up:
        scroll(-scrolling_rows(terminal.rows()));
        break;
      case Key::page_down:
        scroll(scrolling_rows(terminal.rows()));
        break;
      case Key::resized:
      case Key::none:
        break;
    }
    if (!state.paused && reader.refresh()) report = report_of(options.run, reader.log());
  }
}

}  // namespace

void add_watch(CommandLine& line) {
  auto o = std::make_shared<Options>();
  Verb& verb = line.verb("watch", "Show a run as it goes on: curves, hosts, time, money, verdicts");
  verb.positional("RUN", o->run, "directory of a run");
  verb.flag("--once", o->once, "print one screen and end; also what happens without a terminal");
  verb.flag("--json", o->json, "print the answers so far as JSON and end");
  verb.option("--columns", o->columns, "width of the screen of --once", 40, 1000);
  verb.option("--rows", o->rows, "height of the screen of --once", 24, 1000);
  verb.run([o] {
    if (o->json) {
      std::puts(report_json(report_of(o->run)).dump(2).c_str());
    } else if (o->once || !on_a_terminal()) {
      print_once(*o);
    } else {
      watch(*o);
    }
    return ExitCode::ok;
  });
}

}  // namespace tandem
