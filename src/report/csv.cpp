#include "report/csv.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/format.h"

namespace tandem {
namespace {

// Shortest text that reads back to the same bits; nothing for what is no number.
std::string number(double value) {
  return std::isfinite(value) ? format("{}", value) : "";
}
std::string number(const std::optional<double>& value) {
  return value ? number(*value) : "";
}

void put(std::FILE* out, const std::vector<std::string>& fields) {
  const std::string line = format("{}\r\n", join(fields, ","));
  std::fputs(line.c_str(), out);
}

void write_steps(const RunLog& log, std::FILE* out) {
  put(out, {"time",
            "step",
            "epoch",
            "loss",
            "nll",
            "tokens",
            "lr",
            "grad_norm",
            "loss_scale",
            "skipped",
            "seconds.total",
            "seconds.data",
            "seconds.forward",
            "seconds.backward",
            "seconds.exchange",
            "seconds.wait",
            "seconds.optimizer",
            "seconds.other",
            "bytes_out",
            "bytes_in"});
  for (const StepPoint& p : log.steps) {
    const StepSeconds& s = p.seconds;
    put(out,
        {number(p.time),       format("{}", p.step),  format("{}", p.epoch), number(p.loss),
         number(p.nll),        number(p.tokens),      number(p.lr),          number(p.grad_norm),
         number(p.loss_scale), p.skipped ? "1" : "0", number(s.total),       number(s.data),
         number(s.forward),    number(s.backward),    number(s.exchange),    number(s.wait),
         number(s.optimizer),  number(s.other),       number(p.bytes_out),   number(p.bytes_in)});
  }
}

void write_evals(const RunLog& log, std::FILE* out) {
  put(out, {"time", "step", "val_loss", "train_loss", "bleu", "chrf", "seconds", "source",
            "reference", "hypothesis"});
  for (const auto& [time, r] : log.evals) {
    const SampleTranslation first = r.samples.empty() ? SampleTranslation{} : r.samples.front();
    put(out, {number(time), format("{}", r.step), number(r.val_loss), number(r.train_loss),
              number(r.bleu), number(r.chrf), number(r.seconds), csv_field(first.source),
              csv_field(first.reference), csv_field(first.hypothesis)});
  }
}

void write_systems(const RunLog& log, std::FILE* out) {
  std::size_t most = 0;
  for (const auto& [time, r] : log.systems) most = std::max(most, r.gpus.size());
  std::vector<std::string> names = {"time",
                                    "host",
                                    "cores",
                                    "cpu",
                                    "process_cores",
                                    "memory_used_bytes",
                                    "memory_total_bytes",
                                    "disk_free_bytes",
                                    "interface",
                                    "net_out_per_s",
                                    "net_in_per_s",
                                    "link_bits_per_s",
                                    "gpus"};
  for (std::size_t i = 0; i < most; ++i) {
    for (const char* field : {"utilisation", "memory_used_bytes", "memory_total_bytes",
                              "power_watts", "temperature_celsius"}) {
      names.push_back(format("gpu{}.{}", i, field));
    }
  }
  put(out, names);
  for (const auto& [time, r] : log.systems) {
    std::vector<std::string> fields = {number(time),
                                       csv_field(r.host),
                                       format("{}", r.cores),
                                       number(r.cpu),
                                       number(r.process_cores),
                                       number(r.memory_used_bytes),
                                       number(r.memory_total_bytes),
                                       number(r.disk_free_bytes),
                                       csv_field(r.interface),
                                       number(r.net_out_per_s),
                                       number(r.net_in_per_s),
                                       number(r.link_bits_per_s),
                                       format("{}", r.gpus.size())};
    for (std::size_t i = 0; i < most; ++i) {
      const GpuSample gpu = i < r.gpus.size() ? r.gpus[i] : GpuSample{};
      fields.push_back(number(gpu.utilisation));
      fields.push_back(number(gpu.memory_used_bytes));
      fields.push_back(number(gpu.memory_total_bytes));
      fields.push_back(number(gpu.power_watts));
      fields.push_back(number(gpu.temperature_celsius));
    }
    put(out, fields);
  }
}

void write_others(const RunLog& log, std::string_view kind, std::FILE* out) {
  if (kind == "checkpoint") {
    put(out, {"time", "step", "bytes", "pause_seconds", "write_seconds"});
    for (const auto& [time, r] : log.checkpoints) {
      put(out, {number(time), format("{}", r.step), format("{}", r.bytes), number(r.pause_seconds),
                number(r.write_seconds)});
    }
  } else if (kind == "event") {
    put(out, {"time", "step", "kind", "text"});
    for (const auto& [time, r] : log.events) {
      put(out, {number(time), format("{}", r.step), csv_field(r.kind), csv_field(r.text)});
    }
  } else {
    check(kind == "end", "the kinds of lines are known");
    put(out, {"time", "step", "reason", "text", "seconds", "tokens"});
    for (const auto& [time, r] : log.ends) {
      put(out, {number(time), format("{}", r.step), csv_field(r.reason), csv_field(r.text),
                number(r.seconds), format("{}", r.tokens)});
    }
  }
}

}  // namespace

std::string csv_field(std::string_view text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != text.npos;
  const std::string plain = format("{}{}", formula ? "'" : "", text);
  if (plain.find_first_of(",\"\r\n") == plain.npos) return plain;
  std::string out = "\"";
  for (const char c : plain) {
    if (c == '"') out += c;
    out += c;
  }
  out += '"';
  return out;
}

void write_csv(const RunLog& log, std::string_view kind, std::FILE* out) {
  if (kind == "step") {
    write_steps(log, out);
  } else if (kind == "eval") {
    write_evals(log, out);
  } else if (kind == "system") {
    write_systems(log, out);
  } else {
    write_others(log, kind, out);
  }
}

}  // namespace tandem
