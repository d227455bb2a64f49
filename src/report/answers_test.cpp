#include "report/answers.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace tandem {
namespace {

TEST(Answers, AnEmptyJournalAnswersNothing) {
  const TemporaryFolder folder;
  for (const Finding& f : report_of(folder.path(), RunLog{}).answers) {
    EXPECT_EQ(f.verdict, Ruling::cannot_tell) << f.question << " " << f.text;
    EXPECT_EQ(f.confidence, Confidence::none) << f.question << " " << f.text;
  }
}

}  // namespace
}  // namespace tandem
