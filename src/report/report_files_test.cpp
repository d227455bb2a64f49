#include "report/report_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/temporary_folder.h"
#include "report/synthetic_run.h"

namespace tandem {
namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(ReportFiles, APageThatItsAnswersWouldOverwriteIsRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const std::vector<RunReport> reports{report_of(folder.path(), SyntheticRun{.steps = 30}.log())};
  const fs::path out = folder.path() / "y.json";
  EXPECT_NE(refusal([&] { write_report(reports, out); }).find("--out"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const ReportFiles files = write_report(reports, folder.path() / "y.html");
  EXPECT_EQ(files.json, out);
  EXPECT_NE(read_file(files.html), read_file(files.json));
}

TEST(ReportFiles, APageInAFolderThatIsNotThereIsTheUsersMistake) {
  const TemporaryFolder folder;
  const std::vector<RunReport> reports{report_of(folder.path(), SyntheticRun{.steps = 30}.log())};
  const fs::path absent = folder.path() / "absent";
  EXPECT_NE(refusal([&] { write_report(reports, absent / "x.html"); }).find("there is no folder"),
            std::string::npos);
  fs::create_directory(folder.path() / "x.json");
  EXPECT_NE(refusal([&] { write_report(reports, folder.path() / "x.html"); }).find("x.json"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() / "x.html")) << "half a report";
}

TEST(ReportFiles, RunsOfOneNameAreToldApartByTheFoldersAboveThem) {
  const TemporaryFolder folder;
  std::vector<fs::path> runs;
  for (const char* run : {"x/a/r", "x/b/r/", "y/a/r", "x/c/other"}) {
    runs.push_back(folder.path() / run);
    fs::create_directories(runs.back());
    std::ofstream(runs.back() / "journal.jsonl").close();
  }
  const auto names = [&] {
    std::vector<std::string> out;
    for (const RunReport& r : reports_of(runs)) out.push_back(r.name);
    return out;
  };
  EXPECT_EQ(names(), (std::vector<std::string>{"x/a/r", "b/r", "y/a/r", "other"}));
  runs = {runs[0], runs[0]};
  EXPECT_EQ(names(), (std::vector<std::string>{"r", "r"})) << "the same run";
}

TEST(ReportFiles, AFileThatHoldsNoRunIsRefusedAndAnEmptyJournalOfAFolderIsNot) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "foreign";
  for (const char* text : {"", "no line end", "{\"type\":\"package\",\"time\":1}\n"}) {
    std::ofstream(file) << text;
    EXPECT_NE(refusal([&] { reports_of({file}); }).find(file.string()), std::string::npos) << text;
  }
  std::ofstream(folder.path() / "journal.jsonl").close();
  EXPECT_EQ(reports_of({folder.path()}).size(), 1u);
  std::ofstream(file) << "{\"type\":\"run\",\"time\":1}\n";
  EXPECT_EQ(reports_of({file}).size(), 1u);
}

}  // namespace
}  // namespace tandem
