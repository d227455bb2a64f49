// run_config: all settings of a run. Only cli sees the whole; a part of the program receives its
// own section.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/batch_config.h"
#include "config/checkpoint_config.h"
#include "config/cluster_config.h"
#include "config/cost_config.h"
#include "config/data_config.h"
#include "config/eval_config.h"
#include "config/export_config.h"
#include "config/log_config.h"
#include "config/model_config.h"
#include "config/optim_config.h"
#include "config/option.h"
#include "config/stop_config.h"

namespace tandem {

enum class DeviceChoice { automatic, cpu, cuda };
constexpr std::array<std::string_view, 3> names_of(DeviceChoice) {
  return {"auto", "cpu", "cuda"};
}

enum class Precision { fp32, bf16, fp16 };
constexpr std::array<std::string_view, 3> names_of(Precision) {
  return {"fp32", "bf16", "fp16"};
}

struct RunConfig {
  std::string run = "runs/default";
  std::optional<std::string> start_from;
  std::int64_t seed = 1;
  DeviceChoice device = DeviceChoice::automatic;
  Precision precision = Precision::fp32;
  Ops ops = Ops::fused;
  std::optional<std::int64_t> threads;
  DataConfig data;
  ModelConfig model;
  BatchConfig batch;
  OptimConfig optim;
  EvalConfig eval;
  CheckpointConfig checkpoint;
  StopConfig stop;
  ClusterConfig cluster;
  LogConfig log;
  CostConfig cost;
  ExportConfig exports;  // section "export", which is a word of C++
};

template <class Visitor>
void describe(Visitor&& option, RunConfig& c) {
  option("run", c.run, "directory of the run: checkpoints, journal, report");
  option("start_from", c.start_from,
         "run or model folder whose weights a new run begins with (fine-tuning); null: random");
  option("seed", c.seed, at_least(0), "", "decides the order of the pairs, dropout and the start");
  option("device", c.device, "where to compute; auto: a CUDA device for each worker, else the CPU");
  option("precision", c.precision, "number format of forward and backward; weights stay fp32");
  option("ops", c.ops,
         "fused: fast operations of its own on the CPU; plain: LibTorch's, to compare");
  option("threads", c.threads, between(1, 4096), "threads",
         "CPU threads of a worker; null: the host's cores shared among its workers");
  option.section("data", c.data);
  option.section("model", c.model);
  option.section("batch", c.batch);
  option.section("optim", c.optim);
  option.section("eval", c.eval);
  option.section("checkpoint", c.checkpoint);
  option.section("stop", c.stop);
  option.section("cluster", c.cluster);
  option.section("log", c.log);
  option.section("cost", c.cost);
  option.section("export", c.exports);
}

// Every option, bound to the fields of this config: valid while it lives where it is.
std::vector<Option> options_of(RunConfig& config);

}  // namespace tandem
