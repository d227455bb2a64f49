// link_table_measure: the leaders of the hosts probe their links in pairs, round by round.
// Every worker calls it at the same point of its start and gets the same table; workers that lead
// no host only wait. A link that cannot be measured is an EnvError on all of them, with the names
// of both hosts.
#pragma once

#include "cluster/link_probe.h"
#include "cluster/link_table.h"
#include "cluster/store.h"
#include "cluster/world.h"

namespace tandem {

struct LinkSurvey {
  double seconds = 1.6;        // of all rounds together
  double limit_seconds = 10;   // of one round, when a host is slow or a link is dead
  std::string name = "links";  // of its keys in the store; a second survey needs another one
};

LinkTable measure_links(const World& world, Store& store, const LinkSurvey& survey);

}  // namespace tandem
