#include "cluster/life_table.h"

#include <algorithm>

#include "base/format.h"

namespace tandem {
namespace {

constexpr int kTimes = 10;  // as long as usual is too long

}  // namespace

void LifeTable::joined(int rank, const std::string& name, SteadyTime now) {
  workers_[rank] = Life{name, now, now, {}};
}

void LifeTable::sign(int rank, SteadyTime now, const LifeSign& sign) {
  const auto at = workers_.find(rank);
  if (at == workers_.end()) return;
  Life& life = at->second;
  const bool was_silent = now - life.last > timeout_;
  life.last = now;
  if (sign == life.said && !was_silent) return;
  if (!was_silent && !life.said.waits) {
    const PhaseKind kind = kind_of(life.said.phase);
    Pause& pause = pauses_[kind];
    pause.longest = std::max(pause.longest, now - life.since);
    if (sign.step != life.said.step || kind_of(sign.phase) != kind) pause.known = true;
  }
  life.since = now;  // after a silence, too: nobody knows whether it could work meanwhile
  life.said = sign;
}

void LifeTable::left(int rank) {
  const auto at = workers_.find(rank);
  if (at != workers_.end()) at->second.left = true;
}

std::string LifeTable::ended(int rank) {
  const auto at = workers_.find(rank);
  if (at == workers_.end() || at->second.left) return "";
  at->second.left = true;
  return lost_sentence(at->second.name, "died", at->second.said.phase, at->second.said.step);
}

std::string LifeTable::silent(SteadyTime now) {
  const auto most = std::max(timeout_, patience_);
  const auto gone = [&](const Life& life, SteadyTime limit) {
    return !life.left && life.last < limit;
  };
  const bool any = std::ranges::any_of(
      workers_, [&](const auto& entry) { return gone(entry.second, now - most); });
  if (!any) return "";
  std::vector<std::string> sentences;
  for (auto& [rank, life] : workers_) {
    if (!gone(life, now - most * 2 / 3)) continue;
    sentences.push_back(
        lost_sentence(life.name, "stopped answering", life.said.phase, life.said.step));
    life.left = true;
  }
  return format("{}", join(sentences, "; "));
}

bool LifeTable::answers(const Life& life, SteadyTime now) const {
  return !life.left && now - life.last <= timeout_;
}

LifeTable::Duration LifeTable::most(PhaseKind kind) const {
  const auto at = pauses_.find(kind);
  const Pause pause = at == pauses_.end() ? Pause{} : at->second;
  // A server of files may be started again meanwhile.
  const bool slow = !pause.known || kind == PhaseKind::disk;
  return std::max<Duration>((slow ? kTimes : 1) * stuck_after_, kTimes * pause.longest);
}

std::string LifeTable::stuck(SteadyTime now) const {
  const bool awaited = std::ranges::any_of(workers_, [&](const auto& entry) {
    const Life& life = entry.second;
    return answers(life, now) && life.said.waits && now - life.since > stuck_after_;
  });
  if (!awaited) return "";
  std::vector<std::string> sentences;
  for (const auto& [rank, life] : workers_) {
    const PhaseKind kind = kind_of(life.said.phase);
    if (!answers(life, now) || life.said.waits || kind == PhaseKind::unwatched) continue;
    if (now - life.since <= most(kind)) continue;
    sentences.push_back(
        lost_sentence(life.name, "answers, but is stuck", life.said.phase, life.said.step));
  }
  return sentences.empty() ? all_stuck(now) : format("{}", join(sentences, "; "));
}

// A link between two others, or a thread inside a library.
std::string LifeTable::all_stuck(SteadyTime now) const {
  const Life* last = nullptr;
  bool together = true;
  for (const auto& [rank, life] : workers_) {
    const bool stands = answers(life, now) && life.said.waits &&
                        kind_of(life.said.phase) != PhaseKind::unwatched &&
                        now - life.since > kTimes * stuck_after_;
    if (!stands) return "";
    if (last != nullptr && life.said.step != last->said.step) together = false;
    if (last == nullptr || life.said.step < last->said.step) last = &life;
  }
  const std::string where = format("phase {} at step {}", last->said.phase, last->said.step);
  return format("all {} workers wait for each other and nothing comes, {} {}", workers_.size(),
                together ? "in" : format("{}, the last one, in", last->name), where);
}

std::string LifeTable::unheard(SteadyTime now) const {
  if (patience_ <= timeout_) return "";
  for (const auto& [rank, life] : workers_) {
    if (life.left || life.last >= now - timeout_) continue;
    return format("{} was not heard of since phase {} of step {}", life.name, life.said.phase,
                  life.said.step);
  }
  return "";
}

bool LifeTable::writes(int rank) const {
  const auto at = workers_.find(rank);
  return at != workers_.end() && may_write(at->second.said.phase, at->second.said.waits);
}

std::vector<std::string> LifeTable::news(SteadyTime now) {
  std::vector<std::string> sentences;
  if (patience_ <= timeout_) return sentences;
  for (auto& [rank, life] : workers_) {
    const bool silent = !life.left && life.last < now - timeout_;
    if (silent == life.told_silent) continue;
    life.told_silent = silent;
    if (life.left) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience_).count();
    sentences.push_back(
        silent ? format("{} was not heard of since phase {} of step {}; training waits for it {} s",
                        life.name, life.said.phase, life.said.step, seconds)
               : format("{} is heard of again", life.name));
  }
  return sentences;
}

void LifeTable::forgive(std::chrono::steady_clock::duration gap) {
  for (auto& [rank, life] : workers_) {
    life.last += gap;
    life.since += gap;
  }
}

bool LifeTable::all_left() const {
  return std::ranges::all_of(workers_, [](const auto& entry) { return entry.second.left; });
}

std::string lost_sentence(const std::string& name, const std::string& what,
                          const std::string& phase, std::int64_t step) {
  return format("{} {} in phase {} at step {}", name, what, phase, step);
}

}  // namespace tandem
