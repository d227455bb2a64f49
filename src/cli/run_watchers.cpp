#include "cli/run_watchers.h"

#include <cstdio>

#include "base/format.h"
#include "cluster/host_identity.h"
#include "observe/journal_lines.h"
#include "observe/tensorboard.h"
#include "report/report_files.h"
#include "report/report_writer.h"
#include "report/verdict_watch.h"
#include "train/run_folder.h"

namespace tandem {
namespace {

// Rank 0's: after a sample of its own host it tells what other hosts have sent meanwhile, and what
// those who watch over the workers have noticed: training itself may be waiting for a cut link.
class SamplesOfAllHosts final : public Observer {
 public:
  SamplesOfAllHosts(Observer& observers, Team& team, std::optional<double> link_bits_per_s)
      : observers_(observers),
        team_(team),
        home_(team.journal_home()),
        link_bits_per_s_(link_bits_per_s) {}

  void on_system(const SystemRecord& record) override {
    observers_.on_system(record);
    tell_events(team_, observers_);
    if (home_ == nullptr) return;
    for (const std::string& line : home_->take_records()) tell(line);
  }

 private:
  void tell(const std::string& line) {
    try {
      SystemRecord record = system_record(Json::parse(line, "a sample of another host"));
      if (link_bits_per_s_) record.link_bits_per_s = link_bits_per_s_;
      observers_.on_system(record);
    } catch (const UserError& error) {
      observers_.on_event({0, "warning", error.what()});
    }
  }

  Observer& observers_;
  Team& team_;
  JournalHome* home_;
  std::optional<double> link_bits_per_s_;
};

// Another host's: its samples go to rank 0, which writes them.
class SamplesForRank0 final : public Observer {
 public:
  explicit SamplesForRank0(JournalCopy& copy) : copy_(copy) {}
  void on_system(const SystemRecord& record) override {
    copy_.send_record(journal_line(record, 0).dump());
  }

 private:
  JournalCopy& copy_;
};

}  // namespace

void tell_events(Team& team, Observer& observers) {
  for (auto& [kind, text] : team.take_events()) {
    observers.on_event({team.step(), kind, std::move(text)});
  }
}

HostWatch::HostWatch(Team& team, ObserverList& observers, fs::path run,
                     std::optional<double> link_bits_per_s, std::function<double()> now)
    : team_(team), run_(std::move(run)) {
  const std::string host = this_host().name;
  const fs::path journal = RunFolder(run_).journal();
  if (team.world().rank == 0) {
    observers.add("TensorBoard",
                  std::make_unique<TensorBoard>(RunFolder(run_).tensorboard(), host, now));
    observers.add("the verdicts", std::make_unique<VerdictWatch>(observers, now));
    observers.add("the report", std::make_unique<ReportWriter>(run_));
    if (JournalHome* home = team.journal_home()) home->open(journal);
    take_sample_ = std::make_unique<SamplesOfAllHosts>(observers, team, link_bits_per_s);
  } else if ((copy_ = team.copy_journal(journal))) {
    take_sample_ = std::make_unique<SamplesForRank0>(*copy_);
  } else {
    return;
  }
  SamplerSetting setting;
  setting.host = host;
  setting.run = run_;
  setting.interface = team.interface();
  setting.link_bits_per_s = link_bits_per_s;
  setting.workers = team.processes_of_host();
  sampler_ = std::make_unique<Sampler>(std::move(setting), *take_sample_);
}

HostWatch::~HostWatch() = default;

void HostWatch::finish(std::chrono::milliseconds longest) {
  if (JournalHome* home = team_.journal_home()) home->complete();
  if (!copy_) return;
  copy_->wait_for_end(longest);
  if (!copy_->kept()) return;
  try {
    write_report(reports_of({run_}));
  } catch (const std::exception& error) {
    const std::string text =
        format("tandem: warning: no report on {}: {}\n", this_host().name, error.what());
    std::fputs(text.c_str(), stderr);
  }
}

}  // namespace tandem
