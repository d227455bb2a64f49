// rank_threads: workers as threads of one process, for tests.
#pragma once

#include <exception>
#include <thread>
#include <vector>

#include "base/format.h"
#include "cluster/comm.h"

namespace tandem {

// hosts: of every rank, {0, 0, 1, 1} for two hosts of two workers.
inline World world_of(const std::vector<int>& hosts, int rank) {
  World world;
  world.rank = rank;
  std::vector<int> seen(hosts.size(), 0);
  for (const int host : hosts) {
    world.workers.push_back({format("host-{}", host), "127.0.0.1",
                             100 + static_cast<int>(world.workers.size()), host,
                             seen.at(static_cast<std::size_t>(host))++});
  }
  return world;
}

// Calls work(comm, store) on every rank; throws what the lowest rank that failed has thrown.
template <class Work>
void run_ranks(const std::vector<int>& hosts, Work work) {
  const auto store = memory_store();
  std::vector<std::exception_ptr> failures(hosts.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          CommSetting setting;
          setting.timeout = std::chrono::seconds(60);
          Comm comm(*store, world_of(hosts, static_cast<int>(rank)), setting);
          work(comm, *store);
        } catch (...) {
          failures[rank] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace tandem
