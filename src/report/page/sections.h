// sections: the parts of a run's page as HTML. Every text from outside is escaped here.
#pragma once

#include <string>

#include "report/answers.h"

namespace tandem {

std::string figure(std::string_view plot);  // filled by page.js

std::string summary_section(const RunReport& report);
std::string answers_section(const RunReport& report, const Json& plots);
std::string answers_without_plots(const RunReport& report);
std::string checks_section(const RunReport& report);
std::string hosts_section(const RunReport& report, const Json& plots);
std::string events_section(const RunReport& report);
std::string samples_section(const RunReport& report);
std::string settings_section(const RunReport& report);
std::string environment_section(const RunReport& report);

}  // namespace tandem
