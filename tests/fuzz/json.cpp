// JSON of any origin.
#include "base/json.h"

#include "base/error.h"
#include "fuzz_target.h"

namespace tandem {
namespace {

// What was read once is written so that it reads back as the same.
void read_any_json(std::string_view input) {
  const std::string written = Json::parse(input, "x.json").dump();
  check(Json::parse(written, "x.json").dump(2) == Json::parse(input, "x.json").dump(2),
        "JSON does not read back");
}

std::vector<std::string> json_seeds() {
  return {
      R"({"type":"step","loss":1.25e-3,"list":[1,-2,null,true,"\u00e4\ud83d\ude00\n"],"in":{"a":{}}})",
      "[[[[9223372036854775807,18446744073709551615,-0.0,1e308]]]]", "\"text\"", "null"};
}

const FuzzTarget kJsonTarget{"json", read_any_json, json_seeds};

}  // namespace
}  // namespace tandem
