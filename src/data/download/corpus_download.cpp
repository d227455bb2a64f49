#include "data/download/corpus_download.h"

#include "base/error.h"
#include "base/files.h"
#include "base/format.h"
#include "base/sha256.h"
#include "data/download/checksum_list.h"
#include "data/download/corpus_folder.h"
#include "data/download/partial_file.h"

namespace tandem {
namespace {

std::string address_of(const CorpusFile& file, const std::string& mirror) {
  if (mirror.empty()) return file.url;
  return format("{}{}{}", mirror, mirror.ends_with('/') ? "" : "/", file.name);
}

// What the file must be: what the catalog says, else what an earlier download wrote down.
DownloadRequest request_for(const CorpusFile& file, const fs::path& folder,
                            const std::string& mirror, const ChecksumList& sums) {
  DownloadRequest request{address_of(file, mirror), folder / file.name, file.bytes, file.sha256,
                          "the catalog"};
  const auto recorded = sums.find(file.name);
  if (file.sha256.empty() && recorded != sums.end()) {
    request.sha256 = recorded->second;
    request.sha256_source = format("{} (of an earlier download)", (folder / "SHA256SUMS").string());
  }
  return request;
}

void create_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) throw_cannot("create", folder, failed.value());
}

// The watchers end with the file, so that its bar is gone before the result is shown.
CorpusFileResult get_file(const CorpusFile& file, DownloadRequest request,
                          const DownloadOptions& options, const std::atomic<bool>& stop,
                          const DownloadEvents& watchers) {
  CorpusFileResult result{&file, {}, false, !file.sha256.empty()};
  if (std::error_code ignored; fs::exists(request.target, ignored)) {
    result.download = {sha256_of_file(request.target), fs::file_size(request.target), 0};
    const bool right_size = !file.bytes || *file.bytes == result.download.bytes;
    const bool right_hash = request.sha256.empty() || result.download.sha256 == request.sha256;
    result.already_there = right_size && right_hash;
    if (result.already_there) return result;
    watchers.trouble(right_size
                         ? format("{} is there, but its sha256 is {} and not {}; getting it anew",
                                  request.target.string(), result.download.sha256, request.sha256)
                         : format("{} is there, but has {} bytes and not {}; getting it anew",
                                  request.target.string(), result.download.bytes, *file.bytes));
    // What an earlier download wrote down is then the hash of the wrong file.
    if (!right_size && right_hash && file.sha256.empty()) request.sha256.clear();
  }
  result.download = download(request, options, stop, watchers);
  return result;
}

}  // namespace

std::vector<CorpusFileResult> download_corpus(const KnownCorpus& corpus, const fs::path& folder,
                                              const std::string& mirror,
                                              const DownloadOptions& options,
                                              const std::atomic<bool>& stop,
                                              const CorpusDownloadEvents& events) {
  create_folder(folder);
  const FileDescriptor lock = lock_folder(folder);
  const fs::path sums_path = folder / "SHA256SUMS";
  ChecksumList sums = read_checksums(sums_path);
  std::vector<CorpusFileResult> results;
  for (const CorpusFile& file : corpus.files) {
    check(is_plain_file_name(file.name), "a catalog entry would leave its folder");
    const CorpusFileResult result =
        get_file(file, request_for(file, folder, mirror, sums), options, stop, events.begin(file));
    if (auto& recorded = sums[file.name]; recorded != result.download.sha256) {
      recorded = result.download.sha256;
      atomic_write(sums_path, checksums_text(sums));
    }
    events.end(result);
    results.push_back(result);
  }
  if (!corpus.parts.empty()) write_corpus_folder(folder, corpus);
  return results;
}

}  // namespace tandem
