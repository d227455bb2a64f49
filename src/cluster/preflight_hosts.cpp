#include "cluster/preflight_hosts.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/scaled_text.h"
#include "cluster/link_text.h"
#include "config/choice.h"
#include "config/host_settings.h"

namespace tandem {
namespace {

constexpr std::size_t kMostNamed = 5;  // named in one sentence

void flatten(const Json& json, const std::string& prefix, std::map<std::string, std::string>& out) {
  for (const auto& [key, value] : json.members()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", out);
    } else if (!is_host_setting(prefix + key)) {
      out[prefix + key] = value.dump();
    }
  }
}

// "optim.lr (2.0 here, 1.0 on host-a)"
std::vector<std::string> differing_settings(const HostFacts& host, const HostFacts& first) {
  std::map<std::string, std::string> own, other;
  flatten(host.settings, "", own);
  flatten(first.settings, "", other);
  std::vector<std::string> out;
  for (const auto& [key, value] : own) {
    const std::string theirs = other.contains(key) ? other.at(key) : "unknown";
    if (value != theirs) out.push_back(format("{} ({}, but {} there)", key, value, theirs));
  }
  for (const auto& [key, value] : other) {
    if (!own.contains(key)) out.push_back(format("{} (unknown, but {} there)", key, value));
  }
  return out;
}

std::string listed(std::vector<std::string> items) {
  const std::size_t more = items.size() > kMostNamed ? items.size() - kMostNamed : 0;
  items.resize(items.size() - more);
  return format("{}{}", join(items, ", "), more > 0 ? format(" and {} more", more) : "");
}

std::string dataset_text(const std::string& hash) {
  return hash.empty() ? "no dataset" : format("the dataset {}", hash);
}

void warn_about_nic(const HostFacts& h, const HostFacts& first, std::vector<std::string>& out) {
  if (!h.nic) return;
  const NicFacts& nic = *h.nic;
  if (!nic.up) out.push_back(format("{} on {} is down", nic.name, h.host));
  if (nic.kind == NicKind::wireless) {
    out.push_back(
        format("{} on {} is wireless: its speed changes from minute to minute; use a cable",
               nic.name, h.host));
  } else if (nic.kind == NicKind::tunnel || nic.kind == NicKind::bridge) {
    out.push_back(
        format("{} on {} is a {}, not the wire itself; if there is a direct interface, "
               "name it in cluster.interface",
               nic.name, h.host, name_of(nic.kind)));
  }
  if (first.nic && nic.mtu_bytes != first.nic->mtu_bytes) {
    out.push_back(
        format("{} on {} has MTU {}, {} on {} has {}: large packets may be lost; make "
               "them equal",
               nic.name, h.host, nic.mtu_bytes, first.nic->name, first.host, first.nic->mtu_bytes));
  }
}

}  // namespace

Json host_facts_json(const HostFacts& f) {
  return Json::object()
      .set("host", f.host)
      .set("version", f.version)
      .set("binary", f.binary)
      .set("settings", f.settings)
      .set("dataset", f.dataset)
      .set("interface", f.nic ? nic_json(*f.nic) : Json())
      .set("disk_free_bytes", f.disk_free_bytes)
      .set("memory_free_bytes", f.memory_free_bytes)
      .set("cores", f.cores)
      .set("workers", f.workers);
}

HostFacts host_facts_from_json(const Json& json) {
  HostFacts f;
  f.host = json.at("host").as_string();
  f.version = json.at("version").as_string();
  f.binary = json.at("binary").as_string();
  f.settings = json.at("settings");
  f.dataset = json.at("dataset").as_string();
  if (!json.at("interface").is_null()) f.nic = nic_from_json(json.at("interface"));
  f.disk_free_bytes = json.at("disk_free_bytes").as_double();
  f.memory_free_bytes = json.at("memory_free_bytes").as_double();
  f.cores = json.at("cores").as_int();
  f.workers = json.at("workers").as_int();
  return f;
}

std::vector<std::string> host_differences(const std::vector<HostFacts>& hosts,
                                          bool dataset_is_sent) {
  std::vector<std::string> out;
  if (hosts.empty()) return out;
  const HostFacts& first = hosts.front();
  for (const HostFacts& h : hosts) {
    if (h.version != first.version) {
      out.push_back(format("{} runs {}, but {} runs {}; install the same on both", h.host,
                           h.version, first.host, first.version));
      continue;  // its settings and hashes may mean something else
    }
    if (auto keys = differing_settings(h, first); !keys.empty()) {
      out.push_back(format("{} has other settings than {}: {}; give both the same file", h.host,
                           first.host, listed(std::move(keys))));
    }
    if (h.dataset != first.dataset && !dataset_is_sent) {
      out.push_back(format("{} has {}, but {} has {}; copy it there", h.host,
                           dataset_text(h.dataset), first.host, dataset_text(first.dataset)));
    }
  }
  return out;
}

std::vector<std::string> host_warnings(const std::vector<HostFacts>& hosts,
                                       const HostNeeds& needs) {
  std::vector<std::string> out;
  if (hosts.empty()) return out;
  const HostFacts& first = hosts.front();
  if (first.disk_free_bytes < needs.disk_bytes) {
    out.push_back(
        format("the run grows to about {}, but {} has {} of disk free; free some, or lower "
               "checkpoint.keep or checkpoint.best",
               bytes_text(needs.disk_bytes), first.host, bytes_text(first.disk_free_bytes)));
  }
  for (const HostFacts& h : hosts) {
    const double memory = needs.memory_bytes * static_cast<double>(h.workers);
    if (h.memory_free_bytes > 0 && h.memory_free_bytes < memory) {
      out.push_back(
          format("{} worker{} need about {} of memory, but {} has {} free; lower "
                 "batch.max_tokens_per_micro",
                 h.workers, h.workers == 1 ? "" : "s", bytes_text(memory), h.host,
                 bytes_text(h.memory_free_bytes)));
    }
    if (h.version == first.version && h.binary != first.binary) {
      out.push_back(
          format("{} has another build of {} than {}; copy one of them to be sure that "
                 "both compute the same",
                 h.host, h.version, first.host));
    }
    if (hosts.size() > 1) warn_about_nic(h, first, out);
  }
  return out;
}

std::string host_line(const HostFacts& f) {
  return format("{}: {}{} core{}, {} memory and {} disk free", f.host,
                f.nic ? nic_text(*f.nic) + "; " : "", f.cores, f.cores == 1 ? "" : "s",
                bytes_text(f.memory_free_bytes), bytes_text(f.disk_free_bytes));
}

}  // namespace tandem
