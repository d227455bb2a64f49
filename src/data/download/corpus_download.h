// corpus_download: all files of a corpus into one folder, each verified, with SHA256SUMS beside
// them and, when all are there, corpus.json (corpus_folder.h). What is there and right is left
// alone, so a second call does nothing.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "data/download/catalog.h"
#include "data/download/download.h"

namespace tandem {

struct CorpusFileResult {
  const CorpusFile* file = nullptr;
  Download download;  // nothing received when it was already there
  bool already_there = false;
  bool verified = false;  // against a hash of the catalog, not against an earlier download
};

struct CorpusDownloadEvents {
  // The watchers of one file's download; called before it begins.
  std::function<DownloadEvents(const CorpusFile&)> begin;
  std::function<void(const CorpusFileResult&)> end;
};

// mirror: "" or the address of a folder in which every file lies under its name.
std::vector<CorpusFileResult> download_corpus(const KnownCorpus& corpus,
                                              const std::filesystem::path& folder,
                                              const std::string& mirror,
                                              const DownloadOptions& options,
                                              const std::atomic<bool>& stop,
                                              const CorpusDownloadEvents& events);

}  // namespace tandem
