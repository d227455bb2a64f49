#include "cluster/pmix.h"

#include <pmix.h>

#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/format.h"

namespace tandem {

struct PmixClient::State {
  pmix_proc_t self{};

  pmix_proc_t proc_of(int rank) const {
    pmix_proc_t proc = self;
    proc.rank = static_cast<pmix_rank_t>(rank);
    return proc;
  }
};

namespace {

std::optional<std::string> take_text(pmix_value_t* value) {
  if (value == nullptr) return std::nullopt;
  std::optional<std::string> text;
  if (value->type == PMIX_STRING && value->data.string != nullptr) text = value->data.string;
  PMIX_VALUE_RELEASE(value);
  return text;
}

}  // namespace

PmixClient::PmixClient() : state_(std::make_unique<State>()) {
  const pmix_status_t status = PMIx_Init(&state_->self, nullptr, 0);
  if (status != PMIX_SUCCESS) {
    throw EnvError(
        format("the launcher's PMIx server does not answer ({}); without it set MASTER_ADDR, "
               "MASTER_PORT, RANK, WORLD_SIZE and TANDEM_TOKEN yourself",
               PMIx_Error_string(status)));
  }
}

PmixClient::~PmixClient() {
  PMIx_Finalize(nullptr, 0);
}

void PmixClient::publish(const std::string& key, const std::string& value) {
  pmix_value_t text;
  PMIX_VALUE_CONSTRUCT(&text);
  text.type = PMIX_STRING;
  std::string copy = value;
  text.data.string = copy.data();
  pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &text);
  if (status == PMIX_SUCCESS) status = PMIx_Commit();
  if (status != PMIX_SUCCESS) {
    throw EnvError(format("PMIx does not take \"{}\": {}", key, PMIx_Error_string(status)));
  }
}

// A fence would wait for all workers and name nobody who is missing. So rank 0's words are asked
// for until they are there: servers answer "not found" at once for a worker of the same host.
std::optional<std::string> PmixClient::fetch(int rank, const std::string& key,
                                             std::chrono::seconds timeout) {
  const pmix_proc_t proc = state_->proc_of(rank);
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  do {
    int seconds = static_cast<int>(timeout.count());
    pmix_info_t wait;
    PMIX_INFO_CONSTRUCT(&wait);
    PMIX_INFO_LOAD(&wait, PMIX_TIMEOUT, &seconds, PMIX_INT);
    pmix_value_t* value = nullptr;
    const pmix_status_t status = PMIx_Get(&proc, key.c_str(), &wait, 1, &value);
    PMIX_INFO_DESTRUCT(&wait);
    if (status == PMIX_SUCCESS) return take_text(value);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (std::chrono::steady_clock::now() < deadline);
  return std::nullopt;
}

std::string PmixClient::host_of(int rank) {
  const pmix_proc_t proc = state_->proc_of(rank);
  pmix_value_t* value = nullptr;
  if (PMIx_Get(&proc, PMIX_HOSTNAME, nullptr, 0, &value) != PMIX_SUCCESS) return "";
  return take_text(value).value_or("");
}

std::string pmix_version() {
  const std::string text = PMIx_Get_version();  // "OpenPMIx 4.2.2rc2, repo rev: ..."
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) return text;
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

}  // namespace tandem
