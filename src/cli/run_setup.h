// run_setup: what the settings of a run mean on this machine and for this dataset.
#pragma once

#include <memory>
#include <string>

#include "base/json.h"
#include "config/run_config.h"
#include "data/batch_plan.h"
#include "data/corpus.h"
#include "data/dataset_card.h"
#include "data/vocab.h"
#include "model/transformer.h"
#include "train/run_summary.h"

namespace tandem {

at::Device device_of(DeviceChoice choice);
at::ScalarType compute_type(Precision precision);

// A dataset whose parts belong to its vocabulary; else a UserError names them by hash.
struct Dataset {
  explicit Dataset(const fs::path& path);
  DatasetCard card;
  std::shared_ptr<const Vocab> vocab;
  Corpus train, valid;
};

BatchSetting batch_setting(const RunConfig& config);

// All settings and the hashes of the dataset: what a resumed run is compared with.
Json settings_of(const RunConfig& config, const Dataset& data);

RunFacts facts_of(const RunConfig& config, const Dataset& data, const Transformer& model,
                  const std::string& device);
// The same for the journal.
Json run_record_facts(const RunConfig& config, const Dataset& data, const RunFacts& facts);

}  // namespace tandem
