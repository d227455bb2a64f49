#include "cluster/life_table.h"

#include <algorithm>

#include "base/format.h"
#include "cluster/phase.h"

namespace tandem {

void LifeTable::joined(int rank, const std::string& name, SteadyTime now) {
  workers_[rank] = Life{name, now, now};
}

void LifeTable::sign(int rank, SteadyTime now, std::int64_t step, const std::string& phase) {
  const auto at = workers_.find(rank);
  if (at == workers_.end()) return;
  Life& life = at->second;
  const bool was_silent = now - life.last > timeout_;
  const bool same = life.step == step && life.phase == phase;
  life.last = now;
  if (same && !was_silent) return;
  if (!was_silent && is_own_work(life.phase)) {
    longest_work_ = std::max(longest_work_, now - life.since);
  }
  life.since = now;  // after a silence, too: nobody knows whether it could work meanwhile
  life.step = step;
  life.phase = phase;
}

void LifeTable::left(int rank) {
  const auto at = workers_.find(rank);
  if (at != workers_.end()) at->second.left = true;
}

std::string LifeTable::ended(int rank) {
  const auto at = workers_.find(rank);
  if (at == workers_.end() || at->second.left) return "";
  at->second.left = true;
  return lost_sentence(at->second.name, "died", at->second.phase, at->second.step);
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
    sentences.push_back(lost_sentence(life.name, "stopped answering", life.phase, life.step));
    life.left = true;
  }
  return format("{}", join(sentences, "; "));
}

std::string LifeTable::stuck(SteadyTime now) const {
  constexpr int kTimes = 10;
  std::int64_t awaited = -1;  // the newest step that somebody waits in
  for (const auto& [rank, life] : workers_) {
    if (!life.left && is_waiting(life.phase)) awaited = std::max(awaited, life.step);
  }
  // Who did not come out of an exchange that others are done with is stuck in it.
  const auto holds_up = [&](const Life& life) {
    return awaited >= 0 &&
           (is_own_work(life.phase) || (is_common(life.phase) && life.step < awaited));
  };
  const auto most =
      longest_work_ > longest_work_.zero()
          ? std::max<std::chrono::steady_clock::duration>(stuck_after_, kTimes * longest_work_)
          : kTimes * stuck_after_;
  std::vector<std::string> sentences;
  for (const auto& [rank, life] : workers_) {
    const bool answers = !life.left && now - life.last <= timeout_;
    if (!answers || !holds_up(life) || now - life.since <= most) continue;
    sentences.push_back(lost_sentence(life.name, "answers, but is stuck", life.phase, life.step));
  }
  return format("{}", join(sentences, "; "));
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
                        life.name, life.phase, life.step, seconds)
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
