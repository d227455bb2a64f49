#include "config/data_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {

TEST(DataConfig, WithoutCorporaTheDatasetComesOnce) {
  DataConfig config;
  config.path = "data/a:b, c";  // not taken apart
  EXPECT_THAT(corpora_of(config), testing::ElementsAre(CorpusWeight{"data/a:b, c", 1}));
  EXPECT_THAT(dataset_folders(config), testing::ElementsAre("data/a:b, c"));
}

TEST(DataConfig, CorporaAreDirectoriesWithWeights) {
  DataConfig config;
  config.path = "b";
  config.corpora = "a:2.5, b , /c:d/e: 0.25";
  EXPECT_EQ(corpora_problem(config), "");
  EXPECT_THAT(corpora_of(config), testing::ElementsAre(CorpusWeight{"a", 2.5}, CorpusWeight{"b", 1},
                                                       CorpusWeight{"/c:d/e", 0.25}));
  EXPECT_THAT(dataset_folders(config), testing::ElementsAre("b", "a", "/c:d/e"));
}

}  // namespace tandem
