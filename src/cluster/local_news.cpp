#include "cluster/local_news.h"

#include "base/format.h"
#include "cluster/local_schedule.h"

namespace tandem {

Json news_json(const std::vector<HostNews>& news) {
  Json hosts = Json::array();
  for (const HostNews& its : news) {
    hosts.push(
        Json::object().set("step", its.step).set("seconds", its.seconds).set("replan", its.replan));
  }
  return hosts;
}

std::vector<HostNews> news_from(const Json& json, int hosts) {
  std::vector<HostNews> news;
  for (const Json& its : json.items()) {
    news.push_back({its.at("step").as_int(), false, false, its.at("seconds").as_double(),
                    stored_wish(its.at("replan"))});
  }
  if (std::ssize(news) == hosts) return news;
  throw UserError(
      format("the schedule of exchanges is damaged: it has news of {} hosts instead of {}",
             news.size(), hosts));
}

}  // namespace tandem
