// journal_protocol: the messages between rank 0's journal and its copies; u8 kind, then:
//   home   text mark              hub: the journal is there; the mark lies beside it
//   have   i64 bytes, text hash   copy: what it holds already
//   from   i64 bytes              hub: lines follow from here on; all of that, or 0
//   lines  bytes to the end       hub: whole lines
//   got    i64 bytes              copy: it holds so many now
//   end                           hub: the journal is whole
//   record text                   copy: something that rank 0 shall write
#pragma once

#include <cstdint>

#include "cluster/wire.h"

namespace tandem {

enum class JournalKind : std::uint8_t {
  home = 1,
  have = 2,
  from = 3,
  lines = 4,
  got = 5,
  end = 6,
  record = 7,
};

inline WireWriter journal_message(JournalKind kind) {
  WireWriter writer;
  writer.u8(static_cast<std::uint8_t>(kind));
  return writer;
}

// Beside rank 0's journal: a host that finds rank 0's mark there shares its disk.
inline constexpr const char* kJournalMark = ".journal-home";

}  // namespace tandem
