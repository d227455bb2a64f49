// run_setup: what the settings of a run mean on this machine and for this dataset.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/run_config.h"
#include "data/batch_plan.h"
#include "data/corpus.h"
#include "data/dataset_card.h"
#include "data/mixture.h"
#include "data/vocab.h"
#include "model/transformer.h"
#include "train/run_summary.h"

namespace tandem {

// local_rank: among the workers of a host, who each take the next GPU.
at::Device device_of(DeviceChoice choice, int local_rank = 0);
// workers: that must find a GPU each among those that this one sees.
void check_device(at::Device device, int workers);
// Of a worker: its part of the host's cores unless told otherwise.
std::int64_t threads_of(const RunConfig& config, int workers_of_host);
at::ScalarType compute_type(Precision precision);

// What data.path and data.corpora name: all of one vocabulary; else a UserError names what is not,
// by hash. Vocabulary and validation part are those of data.path.
struct Dataset {
  explicit Dataset(const DataConfig& config);
  DatasetCard card;  // of data.path
  std::shared_ptr<const Vocab> vocab;
  Corpus valid;
  std::vector<CorpusWeight> chosen;  // that are trained on
  std::vector<PartCard> train_cards;
  std::vector<Corpus> corpora;
  Mixture train;
};
// Of all corpora together, each counted once.
PartCard train_card(const Dataset& data);
// The hash of what is trained on; of several corpora, each hash with its weight.
std::string train_identity(const Dataset& data);
// The hashes of what is judged by: tokens and text.
std::string valid_identity(const Dataset& data);

// workers: batch.sentences_per_worker is multiplied by it.
BatchSetting batch_setting(const RunConfig& config, int workers = 1);

// All settings and the hashes of the dataset: what a resumed run is compared with.
Json settings_of(const RunConfig& config, const Dataset& data, int workers);

RunFacts facts_of(const RunConfig& config, const Dataset& data, const Transformer& model,
                  const std::string& device, int workers);
// The same for the journal.
Json run_record_facts(const RunConfig& config, const Dataset& data, const RunFacts& facts);

}  // namespace tandem
