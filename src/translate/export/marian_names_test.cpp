#include "translate/export/marian_names.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/layout.h"

namespace tandem {
namespace {

TEST(MarianNames, EveryParameterIsThereOnceWithAllItsParts) {
  for (const Tied tied : {Tied::all, Tied::decoder, Tied::none}) {
    ModelConfig config;
    config.norm = NormPlace::post;
    config.tied = tied;
    std::map<std::string, std::int64_t> parts;
    std::set<std::string> theirs;
    for (const MarianArray& array : marian_arrays(config)) {
      EXPECT_TRUE(theirs.insert(array.theirs).second) << array.theirs;
      EXPECT_EQ(parts[array.ours]++, array.part) << array.ours;
    }
    const auto layout = model_layout(config, 100);
    EXPECT_EQ(parts.size(), layout.size());
    for (const ParamSpec& spec : layout) EXPECT_GE(parts[spec.name], 1) << spec.name;
    EXPECT_EQ(parts["decoder.layers.5.attention.qkv.weight"], 3);
    EXPECT_EQ(parts["decoder.layers.5.cross.kv.bias"], 2);
  }
}

}  // namespace
}  // namespace tandem
