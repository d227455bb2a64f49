// comm_text: texts of any length among workers: settings, states, translations.
#pragma once

#include <string>
#include <vector>

#include "cluster/comm.h"

namespace tandem {

// The text of the group's first member, rank 0 of all workers, on all of its members.
std::string text_of_first(Comm& comm, const std::string& text, Group group = Group::world);

// The texts of all workers, by rank, on all workers.
std::vector<std::string> texts_of_all(Comm& comm, const std::string& text);

}  // namespace tandem
