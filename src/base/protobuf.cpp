#include "base/protobuf.h"

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace tandem {

bool for_each_field(std::string_view message,
                    const std::function<void(const ProtobufField&)>& visit) {
  try {
    protozero::pbf_reader reader(message.data(), message.size());
    while (reader.next()) {
      ProtobufField field{reader.tag(), 0, {}};
      switch (reader.wire_type()) {
        case protozero::pbf_wire_type::varint:
          field.integer = reader.get_uint64();
          break;
        case protozero::pbf_wire_type::length_delimited: {
          const auto view = reader.get_view();
          field.bytes = {view.data(), view.size()};
          break;
        }
        default:
          reader.skip();
          continue;
      }
      visit(field);
    }
    return true;
  } catch (const protozero::exception&) {
    return false;
  }
}

ProtobufMessage& ProtobufMessage::integer(std::uint32_t number, std::int64_t value) {
  protozero::pbf_writer(text_).add_int64(number, value);
  return *this;
}

ProtobufMessage& ProtobufMessage::float32(std::uint32_t number, float value) {
  protozero::pbf_writer(text_).add_float(number, value);
  return *this;
}

ProtobufMessage& ProtobufMessage::float64(std::uint32_t number, double value) {
  protozero::pbf_writer(text_).add_double(number, value);
  return *this;
}

ProtobufMessage& ProtobufMessage::bytes(std::uint32_t number, std::string_view value) {
  protozero::pbf_writer(text_).add_string(number, value.data(), value.size());
  return *this;
}

}  // namespace tandem
