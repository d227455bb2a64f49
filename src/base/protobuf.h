// protobuf: fields of a serialized message, without its schema; read and written. Input is taken as
// hostile.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
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

// A message being made: ProtobufMessage().integer(1, 7).bytes(2, "x").text().
class ProtobufMessage {
 public:
  ProtobufMessage& integer(std::uint32_t number, std::int64_t value);
  ProtobufMessage& float32(std::uint32_t number, float value);
  ProtobufMessage& float64(std::uint32_t number, double value);
  ProtobufMessage& bytes(std::uint32_t number, std::string_view value);  // also string
  ProtobufMessage& message(std::uint32_t number, const ProtobufMessage& value) {
    return bytes(number, value.text_);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tandem
