#include "report/watch/host_table.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/format.h"
#include "base/scaled_text.h"
#include "report/units.h"

namespace tandem {
namespace {

constexpr int kColumnsWithMemory = 96;

struct WorkerRow {
  std::size_t rank = 0;
  std::string device;
  std::optional<double> gpu, tokens_per_s, wait_share;
};

struct HostRow {
  const SystemRecord* sample = nullptr;  // the newest
  std::vector<WorkerRow> workers;
};

std::string percent(std::optional<double> share) {
  return share ? format("{:.0f} %", 100 * *share) : "-";
}

std::optional<double> mean_gpu(const SystemRecord* r) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; r != nullptr && i < r->gpus.size(); ++i) {
    if (!r->gpus[i].utilisation) continue;
    sum += *r->gpus[i].utilisation;
    count += 1;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

// "cuda:1" is the second GPU of its host.
std::optional<double> gpu_of(const SystemRecord* r, const std::string& device) {
  const std::size_t colon = device.find(':');
  if (r == nullptr || !device.starts_with("cuda") || colon == device.npos) return {};
  const auto index = static_cast<std::size_t>(std::atoi(device.c_str() + colon + 1));
  return index < r->gpus.size() ? r->gpus[index].utilisation : std::nullopt;
}

std::string text_of(const Json& object, std::string_view key) {
  const Json* found = object.is_object() ? object.find(key) : nullptr;
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

// Which worker is where, as the run line tells.
const Json::Array& placed_workers(const RunLog& log) {
  static const Json::Array kNone;
  const Json* cluster = log.facts().find("cluster");
  const Json* list =
      cluster != nullptr && cluster->is_object() ? cluster->find("by_rank") : nullptr;
  return list != nullptr && list->is_array() ? list->items() : kNone;
}

std::map<std::string, HostRow> rows_of(const RunReport& r) {
  std::map<std::string, HostRow> hosts;
  for (const auto& sample : r.log.systems) hosts[sample.record.host].sample = &sample.record;
  const Json::Array& placed = placed_workers(r.log);
  for (std::size_t rank = 0; rank < placed.size() && placed.size() > 1; ++rank) {
    HostRow& host = hosts[text_of(placed[rank], "host")];
    WorkerRow row{rank, text_of(placed[rank], "device"), {}, {}, {}};
    row.gpu = gpu_of(host.sample, row.device);
    if (rank < r.log.workers.size() && r.log.workers[rank].step_seconds > 0) {
      const WorkerStanding& standing = r.log.workers[rank];
      row.tokens_per_s = standing.tokens / standing.step_seconds;
      row.wait_share = standing.wait / standing.step_seconds;
    }
    host.workers.push_back(std::move(row));
  }
  return hosts;
}

struct Cells {
  std::string name, device, tokens, wait, cpu, gpu, memory, out, in, link;
};

std::string line_of(const Cells& c, int columns) {
  std::string text = format("{}{}{:>9}{:>7}{:>7}{:>7}", padded(cut(c.name, 13), 14),
                            padded(cut(c.device, 7), 8), c.tokens, c.wait, c.cpu, c.gpu);
  if (columns >= kColumnsWithMemory) text += format("{:>17}", c.memory);
  return cut(text + format("{:>10}{:>10}{:>7}", c.out, c.in, c.link), columns);
}

std::string tokens_text(std::optional<double> rate) {
  return rate ? human_count(*rate) : "-";
}

ScreenLine host_line(const RunReport& r, const std::string& name, const HostRow& host,
                     int columns) {
  Cells c;
  c.name = name;
  std::optional<double> tokens, wait;
  for (const WorkerRow& worker : host.workers) {
    if (!worker.tokens_per_s) continue;
    tokens = tokens.value_or(0) + *worker.tokens_per_s;
    wait = wait.value_or(0) + *worker.wait_share / static_cast<double>(host.workers.size());
  }
  if (host.workers.empty() && r.totals.mean_step.total > 0) {
    c.device = r.totals.device;
    tokens = r.totals.mean_tokens / r.totals.mean_step.total;
    wait = r.totals.share(&StepSeconds::wait);
  }
  c.tokens = tokens_text(tokens);
  c.wait = percent(wait);
  c.gpu = percent(mean_gpu(host.sample));
  if (const SystemRecord* s = host.sample) {
    std::optional<double> link;
    if (s->link_bits_per_s) {
      link = 8 * std::max(s->net_out_per_s, s->net_in_per_s) / *s->link_bits_per_s;
    }
    c.cpu = percent(s->cpu);
    c.memory = bytes_text(s->memory_used_bytes) + "/" + bytes_text(s->memory_total_bytes);
    c.out = bytes_text(s->net_out_per_s);
    c.in = bytes_text(s->net_in_per_s);
    c.link = percent(link);
  }
  return {{line_of(c, columns)}};
}

ScreenLine worker_line(const WorkerRow& worker, int columns) {
  Cells c;
  c.name = format("  rank {}", worker.rank);
  c.device = worker.device;
  c.tokens = tokens_text(worker.tokens_per_s);
  c.wait = percent(worker.wait_share);
  if (worker.gpu) c.gpu = percent(worker.gpu);
  return {{line_of(c, columns), Style::soft}};
}

}  // namespace

std::size_t rows_of_host_table(const RunReport& report) {
  std::size_t rows = 0;
  for (const auto& [name, host] : rows_of(report)) rows += 1 + host.workers.size();
  return std::max<std::size_t>(rows, 1);
}

Screen host_table(const RunReport& report, int columns, std::size_t most) {
  const Cells head = {"host, worker", "device", "tokens/s", "wait", "cpu",
                      "gpu",          "memory", "out/s",    "in/s", "link"};
  Screen rows;
  for (const auto& [name, host] : rows_of(report)) {
    rows.push_back(host_line(report, name, host, columns));
    for (const WorkerRow& worker : host.workers) rows.push_back(worker_line(worker, columns));
  }
  if (rows.empty()) rows.push_back({{"no samples of hosts yet", Style::soft}});
  if (rows.size() > most && most > 0) {
    const std::size_t hidden = rows.size() - most + 1;
    rows.resize(most - 1);
    rows.push_back(
        {{cut(format("... {} more rows: tab shows them", hidden), columns), Style::soft}});
  }
  rows.insert(rows.begin(), {{line_of(head, columns), Style::soft}});
  return rows;
}

}  // namespace tandem
