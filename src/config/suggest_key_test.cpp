#include "config/suggest_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/format.h"
#include "base/rng.h"
#include "base/suggest.h"
#include "config/load.h"

namespace tandem {
namespace {

std::vector<std::string> all_keys() {
  RunConfig config;
  std::vector<std::string> keys;
  for (const Option& option : options_of(config)) keys.push_back(option.key);
  return keys;
}

// One letter inserted, deleted, replaced or swapped with its neighbour.
std::string mutate(std::string key, std::uint64_t seed, std::uint64_t n) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz_";
  const auto draw = [&](std::uint64_t stream, std::uint64_t bound) {
    return bounded(random_bits(seed, stream, n), bound);
  };
  const std::uint64_t kind = draw(0, 4);
  const auto at = static_cast<std::size_t>(draw(1, kind == 0 ? key.size() - 1 : key.size()));
  const char letter = kLetters[draw(2, kLetters.size())];
  switch (kind) {
    case 0:
      std::swap(key[at], key[at + 1]);
      break;
    case 1:
      key.erase(at, 1);
      break;
    case 2:
      key[at] = letter;
      break;
    default:
      key.insert(at, 1, letter);
      break;
  }
  return key;
}

TEST(SuggestKey, EveryOneLetterMistakeIsRefusedAndTheRightKeyNamed) {
  constexpr std::uint64_t kSeed = 26;
  const std::vector<std::string> keys = all_keys();
  std::size_t refused = 0, named = 0, ties = 0, total = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    for (std::uint64_t made = 0, n = 0; made < 100; ++n) {
      const std::string wrong = mutate(keys[k], kSeed + k, n);
      if (std::ranges::find(keys, wrong) != keys.end()) continue;  // no mistake at all
      ++made;
      ++total;
      std::string error;
      try {
        load_config({}, std::vector<std::string>{wrong + "=1"});
      } catch (const UserError& user_error) {
        error = user_error.what();
      }
      refused += error.starts_with("command line: unknown key ");
      const std::size_t distance = edit_distance(wrong, keys[k]);
      const bool tie = std::ranges::any_of(keys, [&](const std::string& other) {
        return other != keys[k] && edit_distance(wrong, other) <= distance;
      });
      const bool right = error.ends_with(format("(did you mean \"{}\"?)", keys[k]));
      ties += tie;
      named += right;
      EXPECT_TRUE(right || tie) << keys[k] << " as " << wrong << ": " << error;
    }
  }
  RecordProperty("mutations", static_cast<int>(total));
  RecordProperty("equally_near_to_another_key", static_cast<int>(ties));
  RecordProperty("named_right", static_cast<int>(named));
  EXPECT_EQ(refused, total);
  EXPECT_GE(static_cast<double>(named), 0.995 * static_cast<double>(total));
}

TEST(SuggestKey, CapitalsAreNoMistake) {
  const std::vector<std::string> keys = all_keys();
  EXPECT_EQ(suggest_key("OPTIM.LR", keys), "optim.lr");
  EXPECT_EQ(suggest_key("Model.D_Model", keys), "model.d_model");
  EXPECT_EQ(suggest_key("D_MODEL", keys), "model.d_model");
}

TEST(SuggestKey, NothingIsSuggestedForWhatIsNotNear) {
  const std::vector<std::string> keys = all_keys();
  EXPECT_EQ(suggest_key("qqqqqqqq", keys), "");
  EXPECT_EQ(suggest_key("", keys), "");
  EXPECT_EQ(suggest_key(std::string(100000, 'a'), keys), "");
}

}  // namespace
}  // namespace tandem
