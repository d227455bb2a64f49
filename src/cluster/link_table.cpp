#include "cluster/link_table.h"

#include <algorithm>

#include "base/format.h"
#include "cluster/link_text.h"

namespace tandem {

std::vector<std::vector<HostPair>> probe_rounds(int hosts) {
  if (hosts < 2) return {};
  if (hosts == 2) return {{{0, 1}}};
  std::vector<std::vector<HostPair>> rounds(hosts % 2 == 0 ? 2 : 3);
  for (int i = 0; i + 1 < hosts; ++i) rounds[static_cast<std::size_t>(i % 2)].push_back({i, i + 1});
  rounds.back().push_back({hosts - 1, 0});
  return rounds;
}

LinkSummary summary_of(const LinkTable& table) {
  LinkSummary all;
  for (const LinkRow& row : table) {
    const double goodput = goodput_of(row.link);
    all.bytes_per_second =
        &row == &table.front() ? goodput : std::min(all.bytes_per_second, goodput);
    all.rtt_seconds = std::max(all.rtt_seconds, row.link.rtt_median_seconds);
    all.shares_directions = all.shares_directions || shares_directions(row.link);
  }
  return all;
}

std::string link_line(const LinkRow& row) {
  const LinkMeasure& link = row.link;
  std::string line = format("{} - {}: {} there and {} back at once, {} and {} alone, round trip {}",
                            row.opening_host, row.answering_host, rate_text(link.there_both),
                            rate_text(link.back_both), rate_text(link.there_alone),
                            rate_text(link.back_alone), step_text(link.rtt_median_seconds));
  if (link.retransmits > 0) line += format(", {} packets sent again", link.retransmits);
  return line;
}

Json link_table_json(const LinkTable& table) {
  Json rows = Json::array();
  for (const LinkRow& row : table) {
    rows.push(Json::object()
                  .set("opening", row.pair.opening)
                  .set("answering", row.pair.answering)
                  .set("opening_host", row.opening_host)
                  .set("answering_host", row.answering_host)
                  .set("link", link_json(row.link)));
  }
  return rows;
}

}  // namespace tandem
