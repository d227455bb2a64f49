#include "observe/journal_lines.h"

#include <cmath>

namespace tandem {
namespace {

Json line(std::string_view type, double time) {
  return Json::object().set("type", type).set("time", time);
}

Json seconds_json(const StepSeconds& s) {
  Json seconds = Json::object();
  seconds.set("total", s.total).set("data", s.data).set("forward", s.forward);
  seconds.set("backward", s.backward).set("exchange", s.exchange).set("wait", s.wait);
  seconds.set("optimizer", s.optimizer).set("other", s.other);
  return seconds;
}

// To the microsecond: there may be many workers.
Json by_rank_json(const std::vector<WorkerStep>& workers, double WorkerStep::*value) {
  Json out = Json::array();
  for (const WorkerStep& worker : workers) out.push(std::round(worker.*value * 1e6) / 1e6);
  return out;
}

std::optional<double> number_or_none(const Json& line, std::string_view key) {
  const Json& value = line.at(key);
  return value.is_null() ? std::optional<double>() : value.as_double();
}

}  // namespace

Json journal_line(const RunRecord& r, double time) {
  Json out = line("run", time);
  out.set("version", kJournalVersion);
  out.set("resumed_from", r.resumed_from);
  for (const auto& [key, value] : r.facts.members()) out.set(key, value);
  return out;
}

Json journal_line(const StepRecord& r, double time) {
  Json out = line("step", time);
  out.set("step", r.step).set("rank", 0).set("epoch", r.epoch);
  out.set("loss", r.loss).set("nll", r.nll);
  out.set("tokens", r.tokens).set("src_tokens", r.src_tokens).set("sentences", r.sentences);
  out.set("micro_batches", r.micro_batches).set("lr", r.lr).set("grad_norm", r.grad_norm);
  out.set("loss_scale", r.loss_scale).set("skipped", r.skipped);
  out.set("seconds", seconds_json(r.seconds));
  if (r.ranks) {
    out.set("ranks", Json::object()
                         .set("workers", r.ranks->workers)
                         .set("min", seconds_json(r.ranks->min))
                         .set("mean", seconds_json(r.ranks->mean))
                         .set("max", seconds_json(r.ranks->max))
                         .set("work", by_rank_json(r.ranks->by_rank, &WorkerStep::work))
                         .set("wait", by_rank_json(r.ranks->by_rank, &WorkerStep::wait))
                         .set("tokens", by_rank_json(r.ranks->by_rank, &WorkerStep::tokens)));
  }
  out.set("bytes_out", r.bytes_out).set("bytes_in", r.bytes_in);
  return out;
}

Json journal_line(const EvalRecord& r, double time) {
  Json samples = Json::array();
  for (const SampleTranslation& sample : r.samples) {
    samples.push(Json::object()
                     .set("source", sample.source)
                     .set("reference", sample.reference)
                     .set("hypothesis", sample.hypothesis));
  }
  Json out = line("eval", time);
  out.set("step", r.step).set("val_loss", r.val_loss).set("train_loss", r.train_loss);
  out.set("bleu", r.bleu).set("chrf", r.chrf);
  out.set("seconds", r.seconds).set("samples", std::move(samples));
  return out;
}

Json journal_line(const SystemRecord& r, double time) {
  Json gpus = Json::array();
  for (const GpuSample& gpu : r.gpus) {
    gpus.push(Json::object()
                  .set("name", gpu.name)
                  .set("utilisation", gpu.utilisation)
                  .set("memory_used_bytes", gpu.memory_used_bytes)
                  .set("memory_total_bytes", gpu.memory_total_bytes)
                  .set("power_watts", gpu.power_watts)
                  .set("temperature_celsius", gpu.temperature_celsius));
  }
  Json out = line("system", time);
  out.set("host", r.host).set("cores", r.cores).set("cpu", r.cpu);
  out.set("process_cores", r.process_cores);
  out.set("memory_used_bytes", r.memory_used_bytes);
  out.set("memory_total_bytes", r.memory_total_bytes);
  out.set("disk_free_bytes", r.disk_free_bytes).set("interface", r.interface);
  out.set("net_out_per_s", r.net_out_per_s).set("net_in_per_s", r.net_in_per_s);
  out.set("link_bits_per_s", r.link_bits_per_s).set("gpus", std::move(gpus));
  return out;
}

Json journal_line(const CheckpointRecord& r, double time) {
  Json out = line("checkpoint", time);
  out.set("step", r.step).set("bytes", r.bytes);
  out.set("pause_seconds", r.pause_seconds).set("write_seconds", r.write_seconds);
  return out;
}

Json journal_line(const EventRecord& r, double time) {
  return line("event", time).set("step", r.step).set("kind", r.kind).set("text", r.text);
}

Json journal_line(const EndRecord& r, double time) {
  Json out = line("end", time);
  out.set("step", r.step).set("reason", r.reason).set("text", r.text);
  out.set("seconds", r.seconds).set("tokens", r.tokens);
  return out;
}

SystemRecord system_record(const Json& line) {
  SystemRecord r;
  r.host = line.at("host").as_string();
  r.cores = line.at("cores").as_int();
  r.cpu = line.at("cpu").as_double();
  r.process_cores = line.at("process_cores").as_double();
  r.memory_used_bytes = line.at("memory_used_bytes").as_double();
  r.memory_total_bytes = line.at("memory_total_bytes").as_double();
  r.disk_free_bytes = line.at("disk_free_bytes").as_double();
  r.interface = line.at("interface").as_string();
  r.net_out_per_s = line.at("net_out_per_s").as_double();
  r.net_in_per_s = line.at("net_in_per_s").as_double();
  r.link_bits_per_s = number_or_none(line, "link_bits_per_s");
  for (const Json& gpu : line.at("gpus").items()) {
    r.gpus.push_back({gpu.at("name").as_string(), number_or_none(gpu, "utilisation"),
                      number_or_none(gpu, "memory_used_bytes"),
                      number_or_none(gpu, "memory_total_bytes"), number_or_none(gpu, "power_watts"),
                      number_or_none(gpu, "temperature_celsius")});
  }
  return r;
}

}  // namespace tandem
