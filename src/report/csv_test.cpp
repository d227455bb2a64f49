#include "report/csv.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "report/synthetic_run.h"

namespace tandem {
namespace {

std::string csv(const RunLog& log, std::string_view kind) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "out.csv";
  std::FILE* out = std::fopen(path.c_str(), "w");
  write_csv(log, kind, out);
  std::fclose(out);
  return read_file(path);
}

TEST(Csv, FieldsAreQuotedAndNeverFormulas) {
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("=HYPERLINK(1)"), "'=HYPERLINK(1)");
  EXPECT_EQ(csv_field("plain"), "plain");
}

TEST(Csv, HasARowForEveryRecordOfItsKind) {
  SyntheticRun run;
  run.steps = 100;
  run.evals = 4;
  const RunLog log = run.log();
  const auto rows = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(rows(csv(log, "step")), 101);
  EXPECT_EQ(rows(csv(log, "eval")), 5);
  EXPECT_EQ(rows(csv(log, "end")), 2);
  EXPECT_EQ(rows(csv(log, "event")), 1);
  EXPECT_NE(csv(log, "system").find("\r\n"), std::string::npos);
}

TEST(Csv, EveryGpuHasItsColumns) {
  RunLog log;
  SystemRecord two, none;
  two.gpus.resize(2);
  two.gpus[1].power_watts = 250;
  log.systems = {{1, two}, {2, none}};
  const std::string text = csv(log, "system");
  EXPECT_NE(text.find("gpu0.utilisation"), std::string::npos);
  EXPECT_NE(text.find("gpu1.temperature_celsius\r\n"), std::string::npos);
  EXPECT_NE(text.find(",2,,,,,,,,,250,\r\n"), std::string::npos) << text;
  EXPECT_NE(text.find(",0,,,,,,,,,,\r\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tandem
