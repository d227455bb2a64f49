#include "cli/run_watchers.h"

#include <unistd.h>

#include "observe/tensorboard.h"
#include "report/report_writer.h"
#include "report/verdict_watch.h"

namespace tandem {

std::unique_ptr<Sampler> add_run_watchers(ObserverList& observers, const fs::path& run,
                                          const std::function<double()>& now) {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  observers.add("TensorBoard", std::make_unique<TensorBoard>(run / "tensorboard", host, now));
  observers.add("the verdicts", std::make_unique<VerdictWatch>(observers, now));
  observers.add("the report", std::make_unique<ReportWriter>(run));
  SamplerSetting setting;
  setting.host = host;
  setting.run = run;
  return std::make_unique<Sampler>(std::move(setting), observers);
}

}  // namespace tandem
