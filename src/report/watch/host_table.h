// host_table: what hosts and workers do now: one row a host, below it one a worker. Pure.
#pragma once

#include <cstddef>

#include "report/answers.h"
#include "report/watch/cells.h"

namespace tandem {

// Rows that the whole table has, its head not counted.
std::size_t rows_of_host_table(const RunReport& report);

// The head and at most so many rows; the last one says how many more there are.
Screen host_table(const RunReport& report, int columns, std::size_t most);

}  // namespace tandem
