// protobuf: fields of a serialized message, without its schema. Input is taken as hostile.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tandem {

struct ProtobufField {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;  // of a varint field, else 0
  std::string_view bytes;     // of a string, bytes or message field, else empty
};

// Calls visit for every field in order; other kinds of field are passed over.
// Returns false when the message is malformed.
bool for_each_field(std::string_view message,
                    const std::function<void(const ProtobufField&)>& visit);

}  // namespace tandem
