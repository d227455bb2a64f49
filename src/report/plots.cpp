#include "report/plots.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/format.h"

namespace tandem {
namespace {

// Five digits are more than a screen has.
Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(format("{:.5g}", value));
}

using StepValue = std::function<double(const StepPoint&)>;
struct StepCurve {
  std::string name;
  StepValue value;
};

// Rows of steps become at most kMostPoints buckets of equal length.
struct Buckets {
  explicit Buckets(std::size_t rows)
      : length(std::max<std::size_t>(1, (rows + kMostPoints - 1) / kMostPoints)),
        count((rows + length - 1) / length) {}
  std::size_t length, count;
};

template <class Row, class Value>
Json bucket_means(const std::vector<Row>& rows, const Value& value) {
  const Buckets buckets(rows.size());
  Json out = Json::array();
  for (std::size_t b = 0; b < buckets.count; ++b) {
    double sum = 0, count = 0;
    const std::size_t end = std::min(rows.size(), (b + 1) * buckets.length);
    for (std::size_t i = b * buckets.length; i < end; ++i) {
      const double v = value(rows[i]);
      if (!std::isfinite(v)) continue;
      sum += v;
      count += 1;
    }
    out.push(count > 0 ? rounded(sum / count) : Json(nullptr));
  }
  return out;
}

template <class Row, class Value>
Json bucket_ends(const std::vector<Row>& rows, const Value& value) {
  const Buckets buckets(rows.size());
  Json out = Json::array();
  for (std::size_t b = 0; b < buckets.count; ++b) {
    out.push(value(rows[std::min(rows.size(), (b + 1) * buckets.length) - 1]));
  }
  return out;
}

Json series(std::string_view name, Json values) {
  return Json::object().set("name", name).set("values", std::move(values));
}

Json plot(std::string_view title, std::string_view xlabel, Json x, Json all_series) {
  return Json::object()
      .set("title", title)
      .set("xlabel", xlabel)
      .set("x", std::move(x))
      .set("series", std::move(all_series));
}

Json step_plot(std::string_view title, const RunLog& log, const std::vector<StepCurve>& curves) {
  Json all = Json::array();
  for (const StepCurve& curve : curves) {
    all.push(series(curve.name, bucket_means(log.steps, curve.value)));
  }
  return plot(title, "step", bucket_ends(log.steps, [](const StepPoint& p) { return p.step; }),
              std::move(all));
}

struct EvalCurve {
  std::string name;
  std::function<double(const EvalRecord&)> value;
};

Json eval_plot(std::string_view title, const RunLog& log, const std::vector<EvalCurve>& curves) {
  Json all = Json::array();
  for (const EvalCurve& curve : curves) {
    all.push(series(curve.name, bucket_means(log.evals, [&](const Timed<EvalRecord>& eval) {
                      return curve.value(eval.record);
                    })));
  }
  const auto step = [](const Timed<EvalRecord>& eval) { return eval.record.step; };
  return plot(title, "step", bucket_ends(log.evals, step), std::move(all)).set("points", true);
}

double training_loss(const StepPoint& p) {
  return p.loss;
}

// Of training, at each sample: a pause, from the last sample before a start to that start, is left
// out, or it would squeeze everything else together.
std::vector<double> minutes_of_training(const RunLog& log) {
  std::vector<double> minutes;
  const double first = log.systems.front().time;
  double before = first, paused = 0;
  auto start = log.starts.begin();
  for (const auto& sample : log.systems) {
    double began = before;
    for (; start != log.starts.end() && start->time <= sample.time; ++start) {
      began = std::max(began, start->time);
    }
    paused += began - before;
    minutes.push_back((sample.time - first - paused) / 60);
    before = sample.time;
  }
  return minutes;
}

// Samples of the hosts over time; each host is a curve of its own.
Json system_plot(std::string_view title, const RunLog& log,
                 const std::function<std::map<std::string, double>(const SystemRecord&)>& values) {
  const std::vector<double> minutes = minutes_of_training(log);
  const Buckets buckets(log.systems.size());
  std::map<std::string, std::vector<std::pair<double, double>>> sums;  // sum, count a bucket
  Json x = Json::array();
  for (std::size_t i = 0; i < log.systems.size(); ++i) {
    const std::size_t b = i / buckets.length;
    if (i % buckets.length == 0) x.push(rounded(minutes[i]));
    for (const auto& [name, value] : values(log.systems[i].record)) {
      auto& curve = sums[name];
      curve.resize(buckets.count);
      curve[b].first += value;
      curve[b].second += 1;
    }
  }
  Json all = Json::array();
  for (const auto& [name, curve] : sums) {
    Json points = Json::array();
    for (const auto& [sum, count] : curve) {
      points.push(count > 0 ? rounded(sum / count) : Json(nullptr));
    }
    all.push(series(name, std::move(points)));
  }
  return plot(title, "minute of training", std::move(x), std::move(all)).set("zero", true);
}

std::map<std::string, double> use_of(const SystemRecord& r) {
  std::map<std::string, double> out = {{r.host + " CPU", 100 * r.cpu}};
  for (std::size_t i = 0; i < r.gpus.size(); ++i) {
    if (r.gpus[i].utilisation) out[format("{} GPU {}", r.host, i)] = 100 * *r.gpus[i].utilisation;
  }
  if (r.cores > 0) out[r.host + " this run"] = 100 * r.process_cores / static_cast<double>(r.cores);
  return out;
}

std::map<std::string, double> traffic_of(const SystemRecord& r) {
  return {{r.host + " out", r.net_out_per_s / 1e6}, {r.host + " in", r.net_in_per_s / 1e6}};
}

void add_step_plots(const RunLog& log, Json& out) {
  const auto ms = [](double StepSeconds::*phase) {
    return [phase](const StepPoint& p) { return 1000 * (p.seconds.*phase); };
  };
  out.set("train_loss",
          step_plot("Training loss", log,
                    {{"loss", training_loss},
                     {"without smoothing", [](const StepPoint& p) { return p.nll; }}}));
  out.set("lr",
          step_plot("Learning rate", log, {{"rate", [](const StepPoint& p) { return p.lr; }}}));
  out.set("grad_norm", step_plot("Gradient norm", log,
                                 {{"norm", [](const StepPoint& p) { return p.grad_norm; }}}));
  out.set("speed", step_plot("Target tokens a second", log,
                             {{"tokens/s", [](const StepPoint& p) {
                                 return p.seconds.total > 0 ? p.tokens / p.seconds.total : NAN;
                               }}}));
  const auto mean_ms = [](double StepSeconds::*phase) {
    return [phase](const StepPoint& p) { return 1000 * (p.mean.*phase); };
  };
  out.set("step_parts", step_plot("Where a step goes, milliseconds, mean of the workers", log,
                                  {{"data", mean_ms(&StepSeconds::data)},
                                   {"forward", mean_ms(&StepSeconds::forward)},
                                   {"backward", mean_ms(&StepSeconds::backward)},
                                   {"exchange", mean_ms(&StepSeconds::exchange)},
                                   {"wait", mean_ms(&StepSeconds::wait)},
                                   {"optimizer", mean_ms(&StepSeconds::optimizer)},
                                   {"other", mean_ms(&StepSeconds::other)}})
                            .set("stacked", true));
  const auto out_rate = [](const StepPoint& p) {
    return p.seconds.total > 0 ? p.bytes_out / p.seconds.total / 1e6 : NAN;
  };
  out.set("step_and_network", step_plot("Step time and network use", log,
                                        {{"step, ms", ms(&StepSeconds::total)},
                                         {"exposed exchange, ms", ms(&StepSeconds::exchange)},
                                         {"sent, MB/s", out_rate}}));
}

void add_eval_plots(const RunLog& log, Json& out) {
  out.set("overfitting",
          eval_plot("Validation loss and the same of a slice of the training pairs", log,
                    {{"validation", [](const EvalRecord& r) { return r.val_loss; }},
                     {"training slice", [](const EvalRecord& r) { return r.train_loss; }}}));
  const bool scored =
      std::ranges::any_of(log.evals, [](const auto& eval) { return eval.record.bleu.has_value(); });
  if (!scored) return;
  out.set("bleu", eval_plot("BLEU and chrF of the validation set", log,
                            {{"BLEU", [](const EvalRecord& r) { return r.bleu.value_or(NAN); }},
                             {"chrF", [](const EvalRecord& r) { return r.chrf.value_or(NAN); }}}));
}

// One row an x that any of the runs has.
Json overlaid(std::string_view title, const std::vector<RunReport>& reports,
              const std::function<std::vector<std::pair<double, double>>(const RunLog&)>& points) {
  std::map<double, std::vector<double>> rows;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const auto& [x, y] : points(reports[i].log)) {
      rows.try_emplace(x, reports.size(), NAN).first->second[i] = y;
    }
  }
  Json x = Json::array(), all = Json::array();
  std::vector<Json> values(reports.size(), Json::array());
  for (const auto& [at, row] : rows) {
    x.push(std::llround(at));
    for (std::size_t i = 0; i < row.size(); ++i) values[i].push(rounded(row[i]));
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    all.push(series(reports[i].name, std::move(values[i])));
  }
  return plot(title, "step", std::move(x), std::move(all));
}

std::vector<std::pair<double, double>> thinned(const RunLog& log, const StepValue& value) {
  const Json x = bucket_ends(log.steps, [](const StepPoint& p) { return p.step; });
  const Json y = bucket_means(log.steps, value);
  std::vector<std::pair<double, double>> out;
  for (std::size_t i = 0; i < x.items().size(); ++i) {
    if (!y.items()[i].is_null())
      out.emplace_back(x.items()[i].as_double(), y.items()[i].as_double());
  }
  return out;
}

std::vector<std::pair<double, double>> of_evals(
    const RunLog& log, const std::function<double(const EvalRecord&)>& value) {
  std::vector<std::pair<double, double>> out;
  for (const auto& eval : log.evals) {
    out.emplace_back(static_cast<double>(eval.record.step), value(eval.record));
  }
  return out;
}

}  // namespace

Json plots_of(const RunReport& report) {
  Json out = Json::object();
  const RunLog& log = report.log;
  if (!log.steps.empty()) add_step_plots(log, out);
  if (!log.evals.empty()) add_eval_plots(log, out);
  if (log.systems.size() >= 2) {
    out.set("use", system_plot("CPU and GPU use, percent", log, use_of));
    out.set("traffic", system_plot("Network traffic of the hosts, MB/s", log, traffic_of));
  }
  return out;
}

Json comparison_plots(const std::vector<RunReport>& reports) {
  Json out = Json::object();
  out.set("train_loss", overlaid("Training loss", reports,
                                 [](const RunLog& log) { return thinned(log, training_loss); }));
  out.set("val_loss", overlaid("Validation loss", reports, [](const RunLog& log) {
                        return of_evals(log, [](const EvalRecord& r) { return r.val_loss; });
                      }).set("points", true));
  out.set("bleu", overlaid("BLEU", reports, [](const RunLog& log) {
                    return of_evals(log, [](const EvalRecord& r) { return r.bleu.value_or(NAN); });
                  }).set("points", true));
  out.set("lr", overlaid("Learning rate", reports, [](const RunLog& log) {
            return thinned(log, [](const StepPoint& p) { return p.lr; });
          }));
  out.set("speed", overlaid("Target tokens a second", reports, [](const RunLog& log) {
            return thinned(log, [](const StepPoint& p) {
              return p.seconds.total > 0 ? p.tokens / p.seconds.total : NAN;
            });
          }));
  return out;
}

}  // namespace tandem
