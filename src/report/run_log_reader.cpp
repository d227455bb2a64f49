#include "report/run_log_reader.h"

#include <fcntl.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/format.h"
#include "base/longest_line.h"

namespace tandem {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kBlockBytes = 256 << 10;     // stays in the cache while it is looked through
constexpr std::int64_t kUsualLineBytes = 500;      // of a step
constexpr std::int64_t kNewestAllBytes = 1 << 20;  // at the end nothing is passed over
constexpr std::string_view kStepStart = R"({"type":"step",)";
constexpr std::string_view kSystemStart = R"({"type":"system",)";
constexpr std::int64_t kSystemsInARow =
    8;  // of those that are read, so that all hosts are among them

double number(ondemand::value value) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return value.get_double();
}

std::optional<double> optional_number(ondemand::value value) {
  if (value.is_null()) return {};
  return double(value.get_double());
}

std::string text(ondemand::value value) {
  if (value.is_null()) return {};
  return std::string(std::string_view(value.get_string()));
}

// Keys of numbers and where they go; a key that is in no table is passed over.
template <class Record>
using Numbers = std::pair<std::string_view, double Record::*>;

constexpr Numbers<StepSeconds> kSeconds[] = {
    {"total", &StepSeconds::total},         {"data", &StepSeconds::data},
    {"forward", &StepSeconds::forward},     {"backward", &StepSeconds::backward},
    {"exchange", &StepSeconds::exchange},   {"wait", &StepSeconds::wait},
    {"optimizer", &StepSeconds::optimizer}, {"other", &StepSeconds::other}};
constexpr Numbers<StepPoint> kStep[] = {{"time", &StepPoint::time},
                                        {"loss", &StepPoint::loss},
                                        {"nll", &StepPoint::nll},
                                        {"tokens", &StepPoint::tokens},
                                        {"micro_batches", &StepPoint::micro_batches},
                                        {"lr", &StepPoint::lr},
                                        {"grad_norm", &StepPoint::grad_norm},
                                        {"bytes_out", &StepPoint::bytes_out},
                                        {"bytes_in", &StepPoint::bytes_in},
                                        {"loss_scale", &StepPoint::loss_scale}};
constexpr Numbers<WorkerStep> kWorker[] = {
    {"work", &WorkerStep::work}, {"wait", &WorkerStep::wait}, {"tokens", &WorkerStep::tokens}};
constexpr Numbers<SystemRecord> kSystem[] = {
    {"cpu", &SystemRecord::cpu},
    {"process_cores", &SystemRecord::process_cores},
    {"memory_used_bytes", &SystemRecord::memory_used_bytes},
    {"memory_total_bytes", &SystemRecord::memory_total_bytes},
    {"disk_free_bytes", &SystemRecord::disk_free_bytes},
    {"net_out_per_s", &SystemRecord::net_out_per_s},
    {"net_in_per_s", &SystemRecord::net_in_per_s}};
constexpr std::pair<std::string_view, std::optional<double> GpuSample::*> kGpu[] = {
    {"utilisation", &GpuSample::utilisation},
    {"memory_used_bytes", &GpuSample::memory_used_bytes},
    {"memory_total_bytes", &GpuSample::memory_total_bytes},
    {"power_watts", &GpuSample::power_watts},
    {"temperature_celsius", &GpuSample::temperature_celsius}};

template <class Record, std::size_t N>
bool take_number(Record& record, const Numbers<Record> (&table)[N], std::string_view key,
                 ondemand::value value) {
  for (const auto& [name, member] : table) {
    if (key != name) continue;
    record.*member = number(value);
    return true;
  }
  return false;
}

void read_seconds(ondemand::object object, StepSeconds& seconds) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    take_number(seconds, kSeconds, key, field.value());
  }
}

// Means and lists by rank; the rest of what is told about all workers is not needed.
void read_ranks(ondemand::object object, StepSeconds& mean, std::vector<WorkerStep>& workers) {
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "mean") read_seconds(field.value().get_object(), mean);
    for (const auto& [name, member] : kWorker) {
      if (key != name) continue;
      std::size_t rank = 0;
      for (auto value : field.value().get_array()) {
        if (workers.size() == rank) workers.emplace_back();
        workers[rank++].*member = number(value.value());
      }
    }
  }
}

void add_step(RunLog& log, ondemand::object object) {
  StepPoint point;
  point.start = std::ssize(log.starts) - 1;
  std::vector<WorkerStep> workers;
  std::optional<StepSeconds> mean;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "step") {
      point.step = field.value().get_int64();
    } else if (key == "seconds") {
      read_seconds(field.value().get_object(), point.seconds);
    } else if (take_number(point, kStep, key, field.value())) {
      continue;
    } else if (key == "epoch") {
      point.epoch = field.value().get_int64();
    } else if (key == "skipped") {
      point.skipped = field.value().get_bool();
    } else if (key == "ranks") {
      read_ranks(field.value().get_object(), mean.emplace(), workers);
    }
  }
  point.mean = mean.value_or(point.seconds);
  add_workers(log, point, workers);
  log.steps.push_back(point);
}

GpuSample read_gpu(ondemand::object object) {
  GpuSample gpu;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (key == "name") gpu.name = text(field.value());
    for (const auto& [name, member] : kGpu) {
      if (key == name) gpu.*member = optional_number(field.value());
    }
  }
  return gpu;
}

Timed<SystemRecord> read_system(ondemand::object object) {
  Timed<SystemRecord> out;
  SystemRecord& record = out.record;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    if (take_number(record, kSystem, key, field.value())) continue;
    if (key == "time") out.time = number(field.value());
    if (key == "host") record.host = text(field.value());
    if (key == "cores") record.cores = field.value().get_int64();
    if (key == "interface") record.interface = text(field.value());
    if (key == "link_bits_per_s") record.link_bits_per_s = optional_number(field.value());
    if (key != "gpus") continue;
    for (auto gpu : field.value().get_array()) record.gpus.push_back(read_gpu(gpu.get_object()));
  }
  return out;
}

// The rarer lines, through Json.
double number_at(const Json& line, std::string_view key) {
  const Json* found = line.find(key);
  const bool there = found != nullptr && found->is_number();
  return there ? found->as_double() : std::numeric_limits<double>::quiet_NaN();
}

std::int64_t int_at(const Json& line, std::string_view key) {
  const Json* found = line.find(key);
  return found == nullptr || found->is_null() ? 0 : found->as_int();
}

std::string text_at(const Json& line, std::string_view key) {
  const Json* found = line.find(key);
  return found != nullptr && found->is_string() ? found->as_string() : "";
}

EvalRecord read_eval(const Json& line) {
  const auto optional = [&](std::string_view key) {
    const double value = number_at(line, key);
    return std::isnan(value) ? std::optional<double>() : value;
  };
  EvalRecord r;
  r.step = int_at(line, "step");
  r.val_loss = number_at(line, "val_loss");
  r.train_loss = number_at(line, "train_loss");
  r.bleu = optional("bleu");
  r.chrf = optional("chrf");
  r.seconds = optional("seconds").value_or(0);
  if (const Json* samples = line.find("samples")) {
    for (const Json& sample : samples->items()) {
      r.samples.push_back(
          {text_at(sample, "source"), text_at(sample, "reference"), text_at(sample, "hypothesis")});
    }
  }
  return r;
}

// A start may take back steps: it says from where it goes on.
void add_start(RunLog& log, double time, const Json& line) {
  RunRecord start;
  const Json* from = line.find("resumed_from");
  if (from != nullptr && !from->is_null()) {
    start.resumed_from = from->as_int();
    supersede_after(log, *start.resumed_from);
  }
  start.facts = line;
  log.starts.push_back({time, std::move(start)});
}

void add_rare(RunLog& log, std::string_view type, const Json& line) {
  const double time = number_at(line, "time");
  if (type == "run") {
    add_start(log, time, line);
  } else if (type == "eval") {
    log.evals.push_back({time, read_eval(line)});
  } else if (type == "checkpoint") {
    log.checkpoints.push_back(
        {time,
         {int_at(line, "step"), int_at(line, "bytes"), number_at(line, "pause_seconds"),
          number_at(line, "write_seconds")}});
  } else if (type == "event") {
    log.events.push_back(
        {time, {int_at(line, "step"), text_at(line, "kind"), text_at(line, "text")}});
  } else if (type == "end") {
    log.ends.push_back({time,
                        {int_at(line, "step"), text_at(line, "reason"), text_at(line, "text"),
                         number_at(line, "seconds"), int_at(line, "tokens")}});
  }
  // A kind of line that a newer version writes is passed over.
}

}  // namespace

struct RunLogReader::State {
  fs::path path;
  ReadSetting setting;
  RunLog log;
  FileDescriptor fd;
  std::int64_t offset = 0;    // of the first byte that was not read yet
  std::int64_t all_from = 0;  // from here on no step is passed over
  std::int64_t lines = 0, systems = 0;
  // Lines that were taken, half a line, padding for the parser. The half stays where it is until
  // the rest has come, however often that is tried: a long line is not copied again and again.
  std::string block;
  std::size_t taken = 0, filled = 0;
  ondemand::parser parser;

  void start_over();
  bool read_block(std::int64_t size);
  bool may_pass_over(std::string_view line);
  void take_lines(std::string_view whole, std::int64_t position);
  void take_line(std::string_view line, std::size_t capacity);
};

void RunLogReader::State::start_over() {
  log = {};
  offset = lines = systems = 0;
  taken = filled = 0;
}

void RunLogReader::State::take_line(std::string_view line, std::size_t capacity) {
  const auto where = [&] { return format("{}:{}", path.string(), lines); };
  try {
    auto document = parser.iterate(simdjson::padded_string_view(line, capacity));
    ondemand::object object = document.get_object();
    const std::string type(std::string_view(object.find_field_unordered("type")));
    object.reset();
    if (type == "step") {
      add_step(log, object);
      log.last_time = std::max(log.last_time, log.steps.back().time);
    } else if (type == "system") {
      log.systems.push_back(read_system(object));
      log.last_time = std::max(log.last_time, log.systems.back().time);
    } else {
      const Json json = Json::parse(line, where());
      add_rare(log, type, json);
      const double time = number_at(json, "time");
      if (time > log.last_time) log.last_time = time;
    }
  } catch (const simdjson::simdjson_error& error) {
    throw UserError(format("{}: no line of a journal: {}", where(), error.what()));
  } catch (const UserError& error) {
    const std::string what = error.what();
    throw UserError(what.starts_with(path.string()) ? what : format("{}: {}", where(), what));
  }
}

bool RunLogReader::State::may_pass_over(std::string_view line) {
  if (log.stride == 1) return false;
  if (line.starts_with(kStepStart)) return lines % log.stride != 0;
  if (line.starts_with(kSystemStart)) return systems++ / kSystemsInARow % log.stride != 0;
  return false;
}

// whole: lines with their ends; position: of its first byte in the file.
void RunLogReader::State::take_lines(std::string_view whole, std::int64_t position) {
  std::size_t begin = 0;
  while (begin < whole.size()) {
    const void* end = std::memchr(whole.data() + begin, '\n', whole.size() - begin);
    const auto stop = static_cast<std::size_t>(static_cast<const char*>(end) - whole.data());
    const std::string_view line = whole.substr(begin, stop - begin);
    ++lines;
    const bool old = position + static_cast<std::int64_t>(begin) < all_from;
    if (!(old && may_pass_over(line)))
      take_line(line, block.size() - static_cast<std::size_t>(line.data() - block.data()));
    begin = stop + 1;
  }
}

bool RunLogReader::State::read_block(std::int64_t size) {
  const auto wanted = static_cast<std::size_t>(std::min<std::int64_t>(kBlockBytes, size - offset));
  const std::size_t half = filled - taken;
  if (taken > 0) std::memmove(block.data(), block.data() + taken, half);
  taken = 0;
  filled = half;
  block.resize(std::max(block.size(), half + wanted + simdjson::SIMDJSON_PADDING));
  const ssize_t n = ::pread(fd.get(), block.data() + half, wanted, offset);
  if (n < 0) throw EnvError(format("cannot read {}: {}", path.string(), errno_text(errno)));
  const std::int64_t position = offset - static_cast<std::int64_t>(half);
  offset += n;
  filled += static_cast<std::size_t>(n);
  const std::string_view text(block.data(), filled);
  const std::size_t end = text.substr(half).rfind('\n');  // the half has none
  taken = end == std::string_view::npos ? 0 : half + end + 1;
  take_lines(text.substr(0, taken), position);
  if (filled - taken > static_cast<std::size_t>(kLongestLine)) {
    throw UserError(format("{}:{}: no line of a journal: it has not ended after {} MiB",
                           path.string(), lines + 1, kLongestLine >> 20));
  }
  return n > 0;
}

RunLogReader::RunLogReader(const fs::path& run, ReadSetting setting)
    : state_(std::make_unique<State>()) {
  state_->path = fs::is_directory(run) ? run / "journal.jsonl" : run;
  if (!fs::exists(state_->path)) {
    throw UserError(
        format("{} has no journal.jsonl; name the directory of a run that `tandem "
               "train` made",
               run.string()));
  }
  state_->setting = setting;
  state_->fd = open_for_reading(state_->path);
  refresh();
}

RunLogReader::~RunLogReader() = default;

bool RunLogReader::refresh() {
  State& s = *state_;
  struct stat info {};
  if (::fstat(s.fd.get(), &info) != 0) {
    throw EnvError(format("cannot read {}: {}", s.path.string(), errno_text(errno)));
  }
  const std::int64_t size = info.st_size;
  const std::int64_t most = s.setting.most_steps;
  const auto read_steps = static_cast<std::int64_t>(s.log.steps.size());
  const bool too_many = most > 0 && read_steps > 4 * most + kNewestAllBytes / kUsualLineBytes;
  // Half a line was cut off, it is another journal, or it has grown far beyond what was asked for.
  if (size < s.offset || too_many) s.start_over();
  if (s.offset == 0) {
    s.log.stride = most > 0 ? std::max<std::int64_t>(1, size / kUsualLineBytes / most) : 1;
    s.all_from = size - kNewestAllBytes;
  }
  bool read = false;
  while (s.offset < size && s.read_block(size)) read = true;
  return read;
}

const RunLog& RunLogReader::log() const {
  return state_->log;
}

const fs::path& RunLogReader::journal() const {
  return state_->path;
}

RunLog read_run_log(const fs::path& run) {
  const RunLogReader reader(run);
  const RunLog& log = reader.log();
  // A run's folder may be new; a file that was named for itself was meant to hold a run.
  if (log.starts.empty() && log.steps.empty() && !fs::is_directory(run)) {
    throw UserError(
        format("{} is no journal: it tells of no start and no step; name the directory of a run "
               "that `tandem train` made",
               run.string()));
  }
  return log;
}

}  // namespace tandem
