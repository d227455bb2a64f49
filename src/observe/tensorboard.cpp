#include "observe/tensorboard.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "observe/sample_text.h"

namespace tandem {
namespace {

struct Phase {
  const char* tag;
  double StepSeconds::*seconds;
};
constexpr std::array<Phase, 8> kPhases = {{{"time/total", &StepSeconds::total},
                                           {"time/data", &StepSeconds::data},
                                           {"time/forward", &StepSeconds::forward},
                                           {"time/backward", &StepSeconds::backward},
                                           {"time/exchange", &StepSeconds::exchange},
                                           {"time/wait", &StepSeconds::wait},
                                           {"time/optimizer", &StepSeconds::optimizer},
                                           {"time/other", &StepSeconds::other}}};

// Shown as it is: TensorBoard takes a text as Markdown, and ours comes from corpora and settings.
std::string as_code(std::string_view text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out;
}

void add_samples(Event& event, const std::vector<SampleTranslation>& samples) {
  std::string text;
  for (const SampleTranslation& sample : samples) text += sample_text(sample) + "\n\n";
  if (!text.empty()) event.texts.emplace_back("samples", as_code(text));
}

}  // namespace

std::int64_t steps_of_a_point(std::int64_t step) {
  return std::clamp<std::int64_t>(step / 1000, 1, kMostStepsOfAPoint);
}

TensorBoard::TensorBoard(fs::path folder, std::string host, std::function<double()> now)
    : folder_(std::move(folder)), host_(std::move(host)), now_(std::move(now)) {}

EventFile& TensorBoard::file() {
  if (!file_) file_.emplace(folder_, host_, now_());
  return *file_;
}

void TensorBoard::on_run(const RunRecord& record) {
  const double time = now_();
  const std::int64_t done = record.resumed_from.value_or(0);
  sums_ = {};  // a rollback supersedes them
  last_ = {};
  last_.step = done;
  if (record.resumed_from) file().restart_from(done + 1, time);
  const Json* settings = record.facts.find("settings");
  const Json& shown = settings != nullptr ? *settings : record.facts;
  file().add({time, done, {}, {{"settings", as_code(shown.dump(2))}}});
}

void TensorBoard::on_step(const StepRecord& record) {
  const auto tokens = static_cast<double>(record.tokens);
  sums_.steps += 1;
  sums_.tokens += tokens;
  sums_.loss += record.loss * tokens;
  sums_.nll += record.nll * tokens;
  sums_.grad_norm += record.grad_norm;
  sums_.bytes_out += static_cast<double>(record.bytes_out);
  sums_.bytes_in += static_cast<double>(record.bytes_in);
  for (const Phase& phase : kPhases) sums_.seconds.*phase.seconds += record.seconds.*phase.seconds;
  last_ = record;
  if (record.step % steps_of_a_point(record.step) == 0) write_point();
}

void TensorBoard::write_point() {
  if (sums_.steps == 0) return;
  const double tokens = std::max(sums_.tokens, 1.0);
  const double seconds = std::max(sums_.seconds.total, 1e-9);
  Event event{now_(), last_.step, {}, {}};
  event.scalars = {{"train/loss", sums_.loss / tokens},
                   {"train/nll", sums_.nll / tokens},
                   {"train/lr", last_.lr},
                   {"train/grad_norm", sums_.grad_norm / sums_.steps},
                   {"train/loss_scale", last_.loss_scale},
                   {"speed/steps_per_s", sums_.steps / seconds},
                   {"speed/tokens_per_s", sums_.tokens / seconds},
                   {"net/bytes_out_per_s", sums_.bytes_out / seconds},
                   {"net/bytes_in_per_s", sums_.bytes_in / seconds}};
  for (const Phase& phase : kPhases) {
    event.scalars.emplace_back(phase.tag, sums_.seconds.*phase.seconds / sums_.steps);
  }
  sums_ = {};
  file().add(event);
}

void TensorBoard::on_eval(const EvalRecord& record) {
  Event event{now_(), record.step, {}, {}};
  event.scalars = {{"valid/loss", record.val_loss}, {"valid/train_slice_loss", record.train_loss}};
  if (record.bleu) event.scalars.emplace_back("valid/bleu", *record.bleu);
  if (record.chrf) event.scalars.emplace_back("valid/chrf", *record.chrf);
  add_samples(event, record.samples);
  file().add(event);
}

void TensorBoard::on_samples(const SamplesRecord& record) {
  Event event{now_(), record.step, {}, {}};
  add_samples(event, record.samples);
  file().add(event);
}

void TensorBoard::on_system(const SystemRecord& record) {
  const std::string name = record.host == host_ ? "system" : format("system/{}", record.host);
  Event event{now_(), last_.step, {}, {}};
  const auto add = [&](const std::string& tag, std::optional<double> value) {
    if (value) event.scalars.emplace_back(format("{}/{}", name, tag), *value);
  };
  add("cpu", record.cpu);
  add("process_cores", record.process_cores);
  add("memory_used_bytes", record.memory_used_bytes);
  add("disk_free_bytes", record.disk_free_bytes);
  add("net_out_per_s", record.net_out_per_s);
  add("net_in_per_s", record.net_in_per_s);
  for (std::size_t i = 0; i < record.gpus.size(); ++i) {
    const GpuSample& gpu = record.gpus[i];
    add(format("gpu{}/utilisation", i), gpu.utilisation);
    add(format("gpu{}/memory_used_bytes", i), gpu.memory_used_bytes);
    add(format("gpu{}/power_watts", i), gpu.power_watts);
    add(format("gpu{}/temperature_celsius", i), gpu.temperature_celsius);
  }
  file().add(event);
}

void TensorBoard::on_end(const EndRecord&) {
  write_point();  // what the last steps left
}

}  // namespace tandem
