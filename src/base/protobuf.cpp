#include "base/protobuf.h"

#include <protozero/pbf_reader.hpp>

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

}  // namespace tandem
