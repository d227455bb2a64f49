// tandem doctor: what this machine has and what is likely to hurt: the first thing to send along
// with a question.
#include <ATen/Context.h>
#include <torch/cuda.h>
#include <torch/version.h>

#include <cstdio>
#include <memory>

#include "base/format.h"
#include "base/json.h"
#include "cli/verbs.h"
#include "cluster/launch.h"
#include "cluster/machine_facts.h"
#include "cluster/pmix.h"

namespace tandem {
namespace {

struct Findings {
  MachineFacts machine;
  std::string libtorch = TORCH_VERSION, compiler = __VERSION__, pmix = pmix_version();
  std::string launch;
  std::size_t cuda_devices = 0;
  std::vector<std::string> warnings;
};

Findings examine() {
  Findings findings;
  findings.machine = machine_facts(".");
  findings.launch = describe(detect_launch(process_environment()), findings.machine.host);
  findings.cuda_devices = at::hasCUDA() ? torch::cuda::device_count() : 0;
  findings.warnings = machine_warnings(findings.machine);
  return findings;
}

std::string text_of(const Findings& f) {
  std::string text = format("tandem        {} (compiler {}, LibTorch {}, PMIx {})\n",
                            TANDEM_VERSION, f.compiler, f.libtorch, f.pmix);
  text += to_text(f.machine);
  text += format("CUDA devices  {}{}\n", f.cuda_devices,
                 at::hasCUDA() ? "" : " (none here, or a LibTorch without CUDA)");
  text += format("launch        {}\n", f.launch);
  for (const std::string& warning : f.warnings) text += format("warning       {}\n", warning);
  if (f.warnings.empty()) text += "nothing looks wrong\n";
  return text;
}

Json json_of(const Findings& f) {
  Json warnings = Json::array();
  for (const std::string& warning : f.warnings) warnings.push(warning);
  return Json::object()
      .set("tandem", TANDEM_VERSION)
      .set("compiler", f.compiler)
      .set("libtorch", f.libtorch)
      .set("pmix", f.pmix)
      .set("cuda_devices", f.cuda_devices)
      .set("launch", f.launch)
      .set("machine", to_json(f.machine))
      .set("warnings", std::move(warnings));
}

}  // namespace

void add_doctor(CommandLine& line) {
  auto json = std::make_shared<bool>(false);
  Verb& verb = line.verb("doctor", "Versions, devices, interfaces and limits of this machine");
  verb.flag("--json", *json, "print one JSON object");
  verb.run([json] {
    const Findings findings = examine();
    const std::string text = *json ? json_of(findings).dump(2) + "\n" : text_of(findings);
    std::fputs(text.c_str(), stdout);
    return ExitCode::ok;
  });
}

}  // namespace tandem
