#include "report/watch/watch_screen.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/format.h"
#include "base/progress.h"
#include "report/units.h"
#include "report/watch/chart.h"
#include "report/watch/host_table.h"

namespace tandem {
namespace {

constexpr double kSilent = 60;  // seconds without a line: said so

struct Part {
  const char* name;
  double StepSeconds::*seconds;
  Style style;
};
constexpr Part kParts[] = {{"forward", &StepSeconds::forward, Style::one},
                           {"backward", &StepSeconds::backward, Style::two},
                           {"exchange", &StepSeconds::exchange, Style::three},
                           {"wait", &StepSeconds::wait, Style::four},
                           {"optimizer", &StepSeconds::optimizer, Style::five},
                           {"data", &StepSeconds::data, Style::six},
                           {"other", &StepSeconds::other, Style::seven}};

std::string standing(const RunReport& r, double now) {
  if (r.log.ended()) return "ended";
  if (r.log.last_time <= 0) return "not begun";
  const double silent = now - r.log.last_time;
  return silent > kSilent ? format("no sign for {}", duration_text(silent)) : "running";
}

ScreenLine title_line(const RunReport& r, const WatchState& state, int columns) {
  std::string steps = format("step {}", r.totals.steps);
  if (const auto last = r.log.number_setting("stop.steps"); last && *last > 0) {
    steps +=
        format("/{:.0f} ({:.0f} %)", *last, 100.0 * static_cast<double>(r.totals.steps) / *last);
  }
  const std::string right =
      format("  {}  {}{}", steps, standing(r, state.now), state.paused ? "  PAUSED" : "");
  const int room = std::max(10, columns - columns_of(right) - 8);
  return {{"tandem  ", Style::soft}, {padded(r.name, room), Style::strong}, {right}};
}

ScreenLine money_line(const RunReport& r, int columns) {
  const RunTotals& t = r.totals;
  std::string text = duration_text(t.seconds);
  if (t.spent) text += format(", {:.2f} {}", *t.spent, t.currency);
  text += " so far";
  if (t.seconds_left && *t.seconds_left > 0) {
    text += format("; {}", duration_text(*t.seconds_left));
    if (const auto cost = t.cost(*t.seconds_left)) {
      text += format(", {:.2f} {}", *cost, t.currency);
    }
    text += " left";
  }
  if (t.mean_step.total > 0) {
    text += format("; {} tokens/s", human_count(t.mean_tokens / t.mean_step.total));
  }
  if (!r.log.steps.empty()) text += format("; lr {:.3g}", r.log.steps.back().lr);
  return {{cut(text, columns), Style::soft}};
}

ChartCurve loss_curve(const RunLog& log) {
  ChartCurve curve;
  for (const StepPoint& p : log.steps)
    curve.points.emplace_back(static_cast<double>(p.step), p.loss);
  return curve;
}

ChartCurve eval_curve(const RunLog& log, bool bleu) {
  ChartCurve curve;
  for (const auto& eval : log.evals) {
    const double y = bleu ? eval.record.bleu.value_or(NAN) : eval.record.val_loss;
    curve.points.emplace_back(static_cast<double>(eval.record.step), y);
  }
  return curve;
}

void add_charts(const RunReport& r, int columns, int height, Screen& screen) {
  const RunLog& log = r.log;
  const bool bleu = !log.evals.empty() && log.evals.back().record.bleu.has_value();
  const int three = columns >= 120 && bleu ? 3 : 2;
  const int width = (columns - 2 * (three - 1)) / three;
  struct One {
    std::string title;
    std::vector<std::string> rows;
  };
  std::vector<One> charts;
  const std::string loss = log.steps.empty() ? "" : format(" {:.4f}", log.steps.back().loss);
  charts.push_back({"training loss" + loss, braille_chart(loss_curve(log), width, height)});
  const auto add_eval = [&](bool of_bleu) {
    std::string title = of_bleu ? "BLEU" : "validation loss";
    if (!log.evals.empty()) {
      const EvalRecord& last = log.evals.back().record;
      title +=
          of_bleu ? format(" {:.2f}", last.bleu.value_or(NAN)) : format(" {:.4f}", last.val_loss);
      if (three == 2 && !of_bleu && last.bleu) title += format(", BLEU {:.2f}", *last.bleu);
    }
    charts.push_back({title, braille_chart(eval_curve(log, of_bleu), width, height)});
  };
  add_eval(false);
  if (three == 3) add_eval(true);
  ScreenLine titles;
  for (const One& chart : charts)
    titles.push_back({padded(chart.title, width) + "  ", Style::strong});
  screen.push_back(titles);
  for (int i = 0; i < height; ++i) {
    ScreenLine line;
    for (std::size_t c = 0; c < charts.size(); ++c) {
      const Style style = c == 0 ? Style::one : c == 1 ? Style::two : Style::three;
      line.push_back({padded(charts[c].rows[static_cast<std::size_t>(i)], width) + "  ", style});
    }
    screen.push_back(line);
  }
}

void add_step_bar(const RunReport& r, int columns, Screen& screen) {
  const RunTotals& t = r.totals;
  if (t.mean_step.total <= 0) return;
  const std::string label = format("step {:<9}", human_seconds(t.mean_step.total));
  const int room = columns - columns_of(label) - 1;
  ScreenLine bar = {{label}}, legend;
  int used = 0, index = 0;
  double sum = 0;
  for (const Part& part : kParts) {
    const char letter = "FBXWODR"[index++];
    sum += t.share(part.seconds);
    const int until = std::min(room, static_cast<int>(std::lround(sum * room)));
    const auto length = static_cast<std::size_t>(std::max(0, until - used));
    bar.push_back({std::string(length, letter), part.style});
    used = std::max(used, until);
    if (t.share(part.seconds) < 0.005) continue;
    legend.push_back(
        {format("{} {} {:.0f} %  ", letter, part.name, 100 * t.share(part.seconds)), part.style});
  }
  screen.push_back(bar);
  screen.push_back(legend);
}

// What is wrong first, then what is not known, then the rest.
std::vector<const Finding*> by_urgency(const std::vector<Finding>& findings) {
  std::vector<const Finding*> out;
  for (const Finding& f : findings) out.push_back(&f);
  std::ranges::stable_sort(out, {}, [](const Finding* f) {
    return !f->good ? 0 : f->verdict == Ruling::cannot_tell ? 2 : 1;
  });
  return out;
}

ScreenLine finding_line(const Finding& f, int columns) {
  const Style style = !f.good                            ? Style::bad
                      : f.verdict == Ruling::cannot_tell ? Style::soft
                                                         : Style::good;
  const char* mark = !f.good ? "! " : f.verdict == Ruling::cannot_tell ? "? " : "✓ ";
  const std::string question = cut(f.question + " ", columns - 2);
  return {{mark, style}, {question}, {cut(f.text, columns - 2 - columns_of(question)), style}};
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::gmtime_r(&whole, &parts);
  return format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// The newest ones, in the order in which they came.
Screen event_lines(const RunReport& r, int columns, std::size_t most) {
  Screen lines;
  const auto& events = r.log.events;
  const std::size_t from = events.size() > most ? events.size() - most : 0;
  for (std::size_t i = from; i < events.size(); ++i) {
    const bool warning = events[i].record.kind == "warning";
    const std::string text = format("{} {}: {}", clock_text(events[i].time), events[i].record.kind,
                                    events[i].record.text);
    lines.push_back({{cut(text, columns), warning ? Style::bad : Style::soft}});
  }
  return lines;
}

void append(Screen lines, Screen& screen) {
  for (ScreenLine& line : lines) screen.push_back(std::move(line));
}

// A low screen with several hosts or workers gives up blank lines and some of the curves for them.
void add_overview(const RunReport& r, int columns, int rows, Screen& screen) {
  const int spare = std::max(0, rows - 24);
  const std::size_t wanted = rows_of_host_table(r);
  const bool tight = wanted > 1 && spare < 4;
  if (!tight) screen.push_back({});
  add_charts(r, columns, (tight ? 5 : 6) + spare / 3, screen);
  if (!tight) screen.push_back({});
  add_step_bar(r, columns, screen);
  append(host_table(r, columns, wanted > 1 ? static_cast<std::size_t>(6 + spare / 3) : 1), screen);
  const std::size_t events =
      std::min<std::size_t>(r.log.events.size(), 2 + static_cast<std::size_t>(spare / 6));
  const auto left = rows - 1 - static_cast<int>(screen.size()) - static_cast<int>(events);
  const auto findings = by_urgency(r.findings);
  for (int i = 0; i < left && i < static_cast<int>(findings.size()); ++i) {
    screen.push_back(finding_line(*findings[static_cast<std::size_t>(i)], columns));
  }
  append(event_lines(r, columns, events), screen);
}

Screen answer_lines(const RunReport& r, int columns) {
  Screen screen;
  for (std::size_t i = 0; i < r.answers.size(); ++i) {
    const Finding& f = r.answers[i];
    screen.push_back({{cut(format("{}. {}", i + 1, f.question), columns), Style::strong}});
    const Style style = !f.good                            ? Style::bad
                        : f.verdict == Ruling::cannot_tell ? Style::soft
                                                           : Style::good;
    for (const std::string& line : wrapped(f.text, columns - 4)) {
      screen.push_back({{"    " + line, style}});
    }
  }
  return screen;
}

// The lines of a view that scrolls; events begin with the newest.
Screen scrolling_lines(const RunReport& r, WatchView view, int columns) {
  Screen lines;
  switch (view) {
    case WatchView::overview:
      break;
    case WatchView::answers:
      return answer_lines(r, columns);
    case WatchView::events:
      lines = event_lines(r, columns, r.log.events.size());
      std::ranges::reverse(lines);
      break;
    case WatchView::workers:
      return host_table(r, columns, rows_of_host_table(r));
  }
  return lines;
}

constexpr int kHeadLines = 3, kFootLines = 1;

int most_from(std::size_t lines, int rows) {
  return std::max(0, static_cast<int>(lines) - scrolling_rows(rows));
}

}  // namespace

int scrolling_rows(int rows) {
  return std::max(1, rows - kHeadLines - kFootLines);
}

int scrolled(const RunReport& r, const WatchState& state, int by, int columns, int rows) {
  const std::size_t lines = scrolling_lines(r, state.view, columns).size();
  return std::clamp(state.from + by, 0, most_from(lines, rows));
}

Screen watch_screen(const RunReport& r, const WatchState& state, int columns, int rows) {
  Screen screen = {title_line(r, state, columns), money_line(r, columns)};
  if (state.view == WatchView::overview) {
    add_overview(r, columns, rows, screen);
  } else {
    screen.push_back({});
    Screen lines = scrolling_lines(r, state.view, columns);
    const int from = std::clamp(state.from, 0, most_from(lines.size(), rows));
    lines.erase(lines.begin(), lines.begin() + from);
    append(std::move(lines), screen);
  }
  screen.resize(static_cast<std::size_t>(std::max(1, rows - kFootLines)));
  screen.push_back(
      {{cut("q quit   p pause   tab overview, answers, events, workers   arrows scroll", columns),
        Style::soft}});
  return screen;
}

}  // namespace tandem
