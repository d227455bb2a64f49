#include "cluster/local_news.h"

namespace tandem {

Json news_json(const std::vector<HostNews>& news) {
  Json hosts = Json::array();
  for (const HostNews& its : news) {
    hosts.push(
        Json::object().set("step", its.step).set("seconds", its.seconds).set("replan", its.replan));
  }
  return hosts;
}

std::vector<HostNews> news_from(const Json& json) {
  std::vector<HostNews> news;
  for (const Json& its : json.items()) {
    news.push_back({its.at("step").as_int(), false, false, its.at("seconds").as_double(),
                    its.at("replan").as_int()});
  }
  return news;
}

}  // namespace tandem
