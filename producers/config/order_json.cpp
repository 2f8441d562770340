// SPDX-License-Identifier: Apache-2.0
#include "producers/config/order_json.hpp"

#include "producers/config/json_text.hpp"

namespace feedring {

void put_order(nlohmann::json& json, const FeedSpec& spec) {
  if (!spec.weights.column.empty()) json["weights"] = {{"column", to_utf8(spec.weights.column)}};
  if (spec.weights.by_class) {
    nlohmann::json classes = nlohmann::json::array();
    for (const auto& [name, weight] : spec.weights.classes) classes.push_back({to_utf8(name), weight});
    json["weights"] = {{"classes", std::move(classes)}};
  }
  for (const MixedData& part : spec.mix) json["mix"].push_back(part.weight);
  if (spec.samples_per_epoch) json["samples_per_epoch"] = *spec.samples_per_epoch;
}

void get_order(const nlohmann::json& json, FeedSpec& spec) {
  if (json.contains("weights")) {
    const nlohmann::json& weights = json.at("weights");
    spec.weights.column = weights.value("column", "");
    spec.weights.by_class = weights.contains("classes");
    if (spec.weights.by_class) weights.at("classes").get_to(spec.weights.classes);
  }
  if (json.contains("samples_per_epoch")) spec.samples_per_epoch = json.at("samples_per_epoch").get<std::uint64_t>();
}

}  // namespace feedring
