#include "base/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/files.h"

namespace tandem {
namespace {

using namespace std::chrono_literals;

// What an action writes to stderr; from is where it can be read, to where stderr goes meanwhile.
std::string stderr_into(FileDescriptor from, FileDescriptor to,
                        const std::function<void()>& action) {
  const FileDescriptor saved(::dup(STDERR_FILENO));
  ::dup2(to.get(), STDERR_FILENO);
  action();
  std::fflush(stderr);
  ::dup2(saved.get(), STDERR_FILENO);
  ::fcntl(from.get(), F_SETFL, O_NONBLOCK);
  std::string seen;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(from.get(), buffer, sizeof buffer)) > 0;) {
    seen.append(buffer, static_cast<std::size_t>(n));
  }
  return seen;
}

std::string on_pipe(const std::function<void()>& action) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  return stderr_into(FileDescriptor(ends[0]), FileDescriptor(ends[1]), action);
}

std::string on_terminal(const std::function<void()>& action) {
  int ours = -1, theirs = -1;
  EXPECT_EQ(::openpty(&ours, &theirs, nullptr, nullptr, nullptr), 0);
  return stderr_into(FileDescriptor(ours), FileDescriptor(theirs), action);
}

// Jobs of 2.3 seconds, side by side, each at 25 near its end.
void slow_jobs(std::initializer_list<double> totals) {
  std::vector<std::unique_ptr<Progress>> jobs;
  for (const double total : totals) {
    jobs.push_back(std::make_unique<Progress>("reading", total, "lines"));
    jobs.back()->at(1);
  }
  std::this_thread::sleep_for(2100ms);
  for (int i = 0; i < 4; ++i) {
    for (const auto& job : jobs) job->at(25);
    std::this_thread::sleep_for(50ms);
  }
}

}  // namespace

TEST(Progress, SaysNothingAboutQuickJobs) {
  const auto quick = [] {
    Progress progress("reading", 1000, "lines");
    for (int i = 0; i <= 1000; ++i) progress.at(i);
  };
  EXPECT_EQ(on_pipe(quick), "");
  EXPECT_EQ(on_terminal(quick), "");
}

TEST(Progress, WritesALineNowAndThenIntoAFile) {
  EXPECT_THAT(on_pipe([] {
                slow_jobs({100, 0, 10});
              }),
              testing::MatchesRegex("reading:  25 % of 100 lines, 1?[0-9] lines/s, [0-9]+ s left\n"
                                    "reading: 25 lines, 1?[0-9] lines/s\n"  // no total
                                    // more than the total, which may be an estimate
                                    "reading: 100 % of 10 lines, 1?[0-9] lines/s, 0 s left\n"));
}

TEST(Progress, ShowsABarOnATerminalAndWipesIt) {
  const std::string seen = on_terminal([] { slow_jobs({100}); });
  EXPECT_TRUE(seen.starts_with("\r[#####...............] reading:  25 %")) << seen;
  EXPECT_TRUE(seen.ends_with("\r\x1b[K")) << seen;
  EXPECT_EQ(seen.find('\n'), std::string::npos);
}

TEST(Progress, DurationsReadWell) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(45.4), "45 s");
  EXPECT_EQ(duration_text(119.4), "119 s");
  EXPECT_EQ(duration_text(119.6), "2 min");
  EXPECT_EQ(duration_text(12 * 60), "12 min");
  EXPECT_EQ(duration_text(3 * 3600 + 20 * 60), "3 h 20 min");
  EXPECT_EQ(duration_text(-1), "0 s");
  EXPECT_EQ(duration_text(1e300), "over 30 years");
}

TEST(Waiting, SaysWhatGoesOnAndForHowLongAndEndsAtOnce) {
  const auto start = std::chrono::steady_clock::now();
  const std::string seen = on_pipe([] {
    const Waiting shown("counting");
    std::this_thread::sleep_for(2500ms);
  });
  EXPECT_EQ(seen, "counting: 2 s\n");
  EXPECT_EQ(on_pipe([] { const Waiting shown("counting"); }), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

}  // namespace tandem
