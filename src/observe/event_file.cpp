#include "observe/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/format.h"
#include "base/protobuf.h"

namespace tandem {
namespace {

// Field numbers of TensorBoard's event.proto, summary.proto and tensor.proto.
namespace field {
constexpr std::uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr std::uint32_t kSessionStatus = 1;
constexpr std::uint32_t kValue = 1;  // of a summary
constexpr std::uint32_t kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
constexpr std::uint32_t kPluginData = 1, kPluginName = 1;
constexpr std::uint32_t kType = 1, kShape = 2, kStrings = 8;  // of a tensor
constexpr std::uint32_t kDimension = 2, kSize = 1;
}  // namespace field
constexpr std::int64_t kStringType = 7;
constexpr std::int64_t kSessionStart = 1;

// A checksum of data that holds checksums is weak; the format asks for this change.
std::uint32_t masked(std::uint32_t checksum) {
  return ((checksum >> 15) | (checksum << 17)) + 0xa282ead8;
}

template <class Number>
void append_little_endian(std::string& out, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    out += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  }
}

ProtobufMessage text_value(std::string_view tag, std::string_view text) {
  const auto dimension = ProtobufMessage().integer(field::kSize, 1);
  const auto shape = ProtobufMessage().message(field::kDimension, dimension);
  const auto tensor = ProtobufMessage()
                          .integer(field::kType, kStringType)
                          .message(field::kShape, shape)
                          .bytes(field::kStrings, text);
  const auto plugin = ProtobufMessage().bytes(field::kPluginName, "text");
  const auto metadata = ProtobufMessage().message(field::kPluginData, plugin);
  return ProtobufMessage()
      .bytes(field::kTag, tag)
      .message(field::kTensor, tensor)
      .message(field::kMetadata, metadata);
}

ProtobufMessage start_of_event(double wall_time, std::int64_t step) {
  return ProtobufMessage().float64(field::kWallTime, wall_time).integer(field::kStep, step);
}

// A host's name is somebody else's text and becomes part of a file name.
std::string file_name_part(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 64)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    out += plain ? c : '_';
  }
  return out;
}

}  // namespace

std::string event_frame(std::string_view record) {
  std::string out;
  append_little_endian(out, static_cast<std::uint64_t>(record.size()));
  append_little_endian(out, masked(crc32c(out)));
  out += record;
  append_little_endian(out, masked(crc32c(record)));
  return out;
}

std::string serialized(const Event& event) {
  ProtobufMessage summary;
  for (const auto& [tag, value] : event.scalars) {
    summary.message(field::kValue, ProtobufMessage()
                                       .bytes(field::kTag, tag)
                                       .float32(field::kSimpleValue, static_cast<float>(value)));
  }
  for (const auto& [tag, text] : event.texts) summary.message(field::kValue, text_value(tag, text));
  return start_of_event(event.wall_time, event.step).message(field::kSummary, summary).text();
}

EventFile::EventFile(const fs::path& folder, std::string_view host, double wall_time) {
  make_directories(folder);
  for (int number = 0; fd_.get() < 0; ++number) {  // a second start within one second
    path_ = folder / format("events.out.tfevents.{}.{}.{}.{}", static_cast<std::int64_t>(wall_time),
                            file_name_part(host), ::getpid(), number);
    fd_ = FileDescriptor(
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (fd_.get() < 0 && errno != EEXIST) {
      throw EnvError(format("cannot write {}: {}", path_.string(), errno_text(errno)));
    }
  }
  write(ProtobufMessage()
            .float64(field::kWallTime, wall_time)
            .bytes(field::kFileVersion, "brain.Event:2")
            .text());
}

void EventFile::add(const Event& event) {
  write(serialized(event));
}

void EventFile::restart_from(std::int64_t step, double wall_time) {
  const auto session = ProtobufMessage().integer(field::kSessionStatus, kSessionStart);
  write(start_of_event(wall_time, step).message(field::kSessionLog, session).text());
}

// A record that the disk took in part is taken back: what follows stays readable.
void EventFile::write(std::string_view event) {
  const std::string record = event_frame(event);
  const off_t before = ::lseek(fd_.get(), 0, SEEK_END);
  ssize_t done = -1;
  do {
    done = ::write(fd_.get(), record.data(), record.size());
  } while (done < 0 && errno == EINTR);
  if (done == static_cast<ssize_t>(record.size())) return;
  const int error_number = done < 0 ? errno : ENOSPC;
  if (done > 0 && before >= 0 && ::ftruncate(fd_.get(), before) != 0) {
    throw EnvError(format("{} ends in half a record: {}", path_.string(), errno_text(errno)));
  }
  throw EnvError(format("cannot write {}: {}", path_.string(), errno_text(error_number)));
}

}  // namespace tandem
