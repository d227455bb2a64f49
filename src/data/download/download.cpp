#include "data/download/download.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

#include "base/error.h"
#include "base/format.h"
#include "base/sha256.h"
#include "data/download/http_rules.h"
#include "data/download/partial_file.h"

namespace tandem {
namespace {

using Clock = std::chrono::steady_clock;

// How one attempt ended. What no further attempt can mend is thrown instead.
struct Attempt {
  bool whole = false;
  bool start_over = false;  // the bytes at hand cannot be continued
  bool no_such_host = false;
  std::string trouble = "";  // why it is not whole
  double retry_after_seconds = 0;
};

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

// One request and its body. libcurl calls back into C++; exceptions are carried over its frames.
class Transfer {
 public:
  Transfer(const DownloadRequest& request, const DownloadOptions& options, PartialFile& part,
           const std::atomic<bool>& stop, const DownloadEvents& events);
  Attempt run();
  std::uint64_t bytes_received() const { return bytes_received_; }

 private:
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self);
  static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  void ask_for_the_rest();
  void begin_body();
  void take_body(std::span<const std::byte> bytes);
  ResponseHead head() const;
  std::string header(const char* name) const;
  Attempt judge_status(long status) const;
  Attempt judge_failure(CURLcode code) const;
  Attempt judge_end() const;

  const DownloadRequest& request_;
  PartialFile& part_;
  const std::atomic<bool>& stop_;
  const DownloadEvents& events_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, FreeList> headers_;
  char error_text_[CURL_ERROR_SIZE] = "";
  std::exception_ptr failure_;  // thrown inside a callback
  bool body_began_ = false;
  bool cannot_continue_ = false;
  bool stalled_ = false;
  Clock::duration stall_limit_;
  Clock::time_point last_arrival_ = Clock::now();
  std::uint64_t bytes_received_ = 0;
};

Transfer::Transfer(const DownloadRequest& request, const DownloadOptions& options,
                   PartialFile& part, const std::atomic<bool>& stop, const DownloadEvents& events)
    : request_(request),
      part_(part),
      stop_(stop),
      events_(events),
      easy_(curl_easy_init()),
      stall_limit_(std::chrono::seconds(options.stall_seconds)) {
  if (!easy_) throw EnvError("libcurl does not start: out of memory");
  CURL* const easy = easy_.get();
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);  // an error's page is no file
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "tandem-get");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 100L);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall_seconds));
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text_);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(easy, CURLOPT_XFERINFODATA, this);
  if (part_.size() > 0) ask_for_the_rest();
}

void Transfer::ask_for_the_rest() {
  curl_easy_setopt(easy_.get(), CURLOPT_RANGE, format("{}-", part_.size()).c_str());
  headers_.reset(
      curl_slist_append(nullptr, format("If-Range: {}", if_range_value(part_.origin())).c_str()));
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers_.get());
}

std::string Transfer::header(const char* name) const {
  curl_header* found = nullptr;
  const auto result = curl_easy_header(easy_.get(), name, 0, CURLH_HEADER, -1, &found);
  return result == CURLHE_OK ? found->value : "";
}

ResponseHead Transfer::head() const {
  ResponseHead head;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &head.status);
  head.etag = header("ETag");
  head.last_modified = header("Last-Modified");
  head.content_range = header("Content-Range");
  curl_off_t length = -1;
  curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  if (length >= 0) head.content_length = static_cast<std::uint64_t>(length);
  return head;
}

// Decides, before the first byte of a body, where it goes.
void Transfer::begin_body() {
  body_began_ = true;
  const ResponseHead answer = head();
  if (part_.size() > 0 && continues(answer, part_.origin(), part_.size())) return;
  if (answer.status == 206) {
    cannot_continue_ = true;
  } else if (answer.status == 200) {
    part_.restart(origin_of(answer, request_.url));
  } else {
    throw EnvError(format("{} is answered with HTTP {}, which is no file; check the address",
                          request_.url, answer.status));
  }
}

void Transfer::take_body(std::span<const std::byte> bytes) {
  if (!body_began_) begin_body();
  if (cannot_continue_) return;
  const std::uint64_t promised = part_.origin().total.value_or(0);
  const std::uint64_t largest = std::max(promised, part_.size() + bytes.size());
  if (request_.bytes && largest > *request_.bytes) {
    part_.discard();
    throw EnvError(format("{} has {} bytes or more where {} were expected: it is another file",
                          request_.url, largest, *request_.bytes));
  }
  part_.append(bytes);
  last_arrival_ = Clock::now();
  bytes_received_ += bytes.size();
  events_.progress(part_.size(), request_.bytes.value_or(promised));
}

std::size_t Transfer::on_body(char* data, std::size_t, std::size_t size, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  try {
    transfer.take_body(std::as_bytes(std::span(data, size)));
  } catch (...) {
    transfer.failure_ = std::current_exception();
  }
  return transfer.failure_ || transfer.cannot_continue_ ? CURL_WRITEFUNC_ERROR : size;
}

// libcurl calls this at least once a second, also while nothing arrives. Its own low-speed limit
// averages over several seconds: it ends a trickle, but notices silence late.
int Transfer::on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(self);
  transfer.stalled_ = Clock::now() - transfer.last_arrival_ > transfer.stall_limit_;
  return transfer.stop_ || transfer.stalled_ ? 1 : 0;
}

Attempt Transfer::run() {
  const CURLcode code = curl_easy_perform(easy_.get());
  if (code == CURLE_OK && !body_began_) begin_body();  // an empty file
  if (failure_) std::rethrow_exception(failure_);
  if (cannot_continue_) {
    return {.start_over = true, .trouble = "the server sent another part than was asked for"};
  }
  if (code == CURLE_HTTP_RETURNED_ERROR) return judge_status(head().status);
  return code == CURLE_OK ? judge_end() : judge_failure(code);
}

Attempt Transfer::judge_status(long status) const {
  if (status == 416) {
    return {.start_over = true, .trouble = "the server's file is shorter than what is here"};
  }
  if (is_passing_trouble(status)) {
    curl_off_t retry_after = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    return {.trouble = format("the server answered HTTP {}", status),
            .retry_after_seconds = static_cast<double>(retry_after)};
  }
  throw EnvError(format("{} is answered with HTTP {}{}", request_.url, status,
                        status == 404 || status == 410
                            ? ": the file is not there; try another --mirror"
                            : "; check the address and your rights, or try another --mirror"));
}

Attempt Transfer::judge_failure(CURLcode code) const {
  const std::string detail = error_text_[0] != '\0' ? error_text_ : curl_easy_strerror(code);
  switch (code) {
    case CURLE_ABORTED_BY_CALLBACK:
      return {.trouble = stalled_ ? "nothing arrives any more" : "stopped"};
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {.no_such_host = true, .trouble = detail};
    case CURLE_COULDNT_CONNECT:
    case CURLE_GOT_NOTHING:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
      return {.trouble = detail};
    default:
      throw EnvError(format("cannot download {}: {}", request_.url, detail));
  }
}

// The body ended without an error of the connection. A plain body without Content-Length also ends
// so when the connection breaks: it counts as whole only if somebody knows the size or the hash.
Attempt Transfer::judge_end() const {
  const auto wanted = part_.origin().total ? part_.origin().total : request_.bytes;
  if (wanted && part_.size() < *wanted) {
    return {.trouble = format("the server ended it after {} of {} bytes", part_.size(), *wanted)};
  }
  if (wanted && part_.size() > *wanted) {
    return {.start_over = true, .trouble = "the server sent more than it promised"};
  }
  long version = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_VERSION, &version);
  const bool end_is_marked =
      version >= CURL_HTTP_VERSION_2_0 || !header("Transfer-Encoding").empty();
  if (!wanted && request_.sha256.empty() && !end_is_marked) {
    part_.discard();
    throw EnvError(
        format("{} is sent without its length, so a cut-off file would look whole; "
               "try another --mirror",
               request_.url));
  }
  return {.whole = true};
}

// Without a total, the end of a rest could not be told from a break.
bool can_be_continued(const PartialFile& part, const std::string& url) {
  const Origin& origin = part.origin();
  return origin.url == url && origin.total && !if_range_value(origin).empty();
}

bool is_whole(const PartialFile& part) {
  return part.size() > 0 && part.origin().total == part.size();
}

[[noreturn]] void throw_stopped(const PartialFile& part) {
  throw Interrupted(part.size() == 0
                        ? std::string("stopped before anything arrived")
                        : format("stopped; {} is kept, and the same command goes on from there",
                                 part.path().string()));
}

void wait(double seconds, const std::atomic<bool>& stop) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (!stop && Clock::now() < end) {
    std::this_thread::sleep_for(
        std::min<std::chrono::duration<double>>(std::chrono::milliseconds(50), end - Clock::now()));
  }
}

// Attempts until the file is whole. Returns the bytes that came over the network.
std::uint64_t fetch(PartialFile& part, const DownloadRequest& request,
                    const DownloadOptions& options, const std::atomic<bool>& stop,
                    const DownloadEvents& events) {
  std::uint64_t received = 0;
  std::uint64_t furthest = part.size();
  std::int64_t failures = 0;
  for (;;) {
    if (stop) throw_stopped(part);
    Transfer transfer(request, options, part, stop, events);
    const Attempt attempt = transfer.run();
    received += transfer.bytes_received();
    if (attempt.whole) return received;
    if (stop) throw_stopped(part);
    if (attempt.no_such_host && received == 0) {  // rather a wrong address than a passing failure
      throw EnvError(format("cannot download {}: {}; check the address and the network",
                            request.url, attempt.trouble));
    }

    // A link that breaks every few megabytes gets there in the end; a server that never gets
    // further does not.
    if (part.size() > furthest) failures = 0;
    furthest = std::max(furthest, part.size());
    if (attempt.start_over || !can_be_continued(part, request.url)) part.discard();
    if (++failures > options.retries) {
      throw EnvError(format("cannot download {}: {}; gave up after {} retries{}", request.url,
                            attempt.trouble, options.retries,
                            part.size() > 0 ? ", the same command goes on from what is here" : ""));
    }
    const double seconds =
        wait_before_retry(failures, options.first_wait_seconds, attempt.retry_after_seconds);
    events.trouble(format("{}: {}; {} in {:.1f} s (retry {} of {})",
                          request.target.filename().string(), attempt.trouble,
                          part.size() > 0 ? "going on" : "starting over", seconds, failures,
                          options.retries));
    wait(seconds, stop);
  }
}

}  // namespace

Download download(const DownloadRequest& request, const DownloadOptions& options,
                  const std::atomic<bool>& stop, const DownloadEvents& events) {
  PartialFile part(request.target);
  if (part.size() > 0 && !can_be_continued(part, request.url)) part.discard();
  Download result;
  if (!is_whole(part)) result.bytes_received = fetch(part, request, options, stop, events);

  part.sync();
  result.bytes = part.size();
  result.sha256 = sha256_of_file(part.path());
  if (!request.sha256.empty() && result.sha256 != request.sha256) {
    part.discard();
    throw EnvError(format("{} from {} has sha256 {} where {} expects {}; it was removed",
                          request.target.filename().string(), request.url, result.sha256,
                          request.sha256_source, request.sha256));
  }
  if (request.bytes && result.bytes != *request.bytes) {
    part.discard();
    throw EnvError(format("{} has {} bytes where {} were expected; it was removed", request.url,
                          result.bytes, *request.bytes));
  }
  part.commit();
  return result;
}

}  // namespace tandem
