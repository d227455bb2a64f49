// yaml_reader: a settings file as assignments with their lines. The only file that includes
// yaml-cpp. What is not "section: {key: scalar}" is a problem; anchors, aliases and tags are, too,
// so that no file can grow beyond its own length. Scalars stay text: the option's type decides.
#pragma once

#include <string>
#include <string_view>

#include "config/assignment.h"

namespace tandem {

// place: how messages call the text, usually its file name.
Assignments read_yaml(const std::string& text, const std::string& place);

}  // namespace tandem
