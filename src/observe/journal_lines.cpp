#include "observe/journal_lines.h"

namespace tandem {
namespace {

Json line(std::string_view type, double time) {
  return Json::object().set("type", type).set("time", time);
}

Json optional_number(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json seconds_json(const StepSeconds& s) {
  Json seconds = Json::object();
  seconds.set("total", s.total).set("data", s.data).set("forward", s.forward);
  seconds.set("backward", s.backward).set("exchange", s.exchange).set("wait", s.wait);
  seconds.set("optimizer", s.optimizer).set("other", s.other);
  return seconds;
}

}  // namespace

Json journal_line(const RunRecord& r, double time) {
  Json out = line("run", time);
  out.set("version", kJournalVersion);
  out.set("resumed_from", r.resumed_from ? Json(*r.resumed_from) : Json(nullptr));
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
                         .set("max", seconds_json(r.ranks->max)));
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
  out.set("bleu", optional_number(r.bleu)).set("chrf", optional_number(r.chrf));
  out.set("seconds", r.seconds).set("samples", std::move(samples));
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

}  // namespace tandem
