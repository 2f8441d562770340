// SPDX-License-Identifier: Apache-2.0
#include "producers/config/feed_spec.hpp"
#include "producers/config/json_words.hpp"
#include "producers/plan/episode_list.hpp"

namespace feedring {
namespace {

nlohmann::json to_json(const Count& count) { return {count.low, count.high}; }

Count count_of(const nlohmann::json& json) {
  return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>()};
}

// As lists of pairs: their order is part of the plan, and an object would sort them.
nlohmann::json to_json(const std::vector<std::pair<std::string, double>>& weights) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [name, weight] : weights) {
    nlohmann::json each = {{"weight", weight}};
    put_bytes(each, "name", name);
    list.push_back(std::move(each));
  }
  return list;
}

std::string name_in(const nlohmann::json& json) {
  const std::optional<std::string> name = get_bytes(json, "name");
  if (!name) throw Error(ErrorKind::kInternal, "the feed's description holds a class without a name");
  return *name;
}

std::vector<std::pair<std::string, double>> weights_of(const nlohmann::json& json) {
  std::vector<std::pair<std::string, double>> weights;
  for (const nlohmann::json& each : json) weights.emplace_back(name_in(each), each.at("weight").get<double>());
  return weights;
}

}  // namespace

nlohmann::json to_json(const EpisodeSpec& spec) {
  nlohmann::json json = {{"ways", to_json(spec.ways)},
                         {"shots", to_json(spec.shots)},
                         {"queries", to_json(spec.queries)},
                         {"sizes", to_word(spec.sizes)},
                         {"support_limit", spec.support_limit},
                         {"query_split", to_word(spec.query_split)},
                         {"query_weights", spec.query_weights},
                         {"classes", to_word(spec.classes)},
                         {"binding", to_word(spec.binding)},
                         {"label_map", to_word(spec.labels)},
                         {"within_superclass", spec.within_superclass},
                         {"class_weights", to_json(spec.class_weights)},
                         {"mixture", to_json(spec.mixture)},
                         {"only", nlohmann::json::array()},
                         {"augment", nlohmann::json::array()},
                         {"unlabelled", spec.unlabelled},
                         {"distractors", spec.distractors},
                         {"small_classes", to_word(spec.small_classes)},
                         {"fixed", spec.fixed}};
  for (const std::string& name : spec.only) {
    nlohmann::json each = nlohmann::json::object();
    put_bytes(each, "name", name);
    json["only"].push_back(std::move(each));
  }
  for (const ClassAugment each : spec.augment) json["augment"].push_back(to_word(each));
  if (spec.list) {
    put_bytes(json, "file", spec.list->file);
    json["file_digest"] = spec.list->digest;
  }
  if (spec.tasks_per_epoch) json["tasks_per_epoch"] = *spec.tasks_per_epoch;
  return json;
}

EpisodeSpec episode_spec_from_json(const nlohmann::json& json) {
  EpisodeSpec spec;
  spec.ways = count_of(json.at("ways"));
  spec.shots = count_of(json.at("shots"));
  spec.queries = count_of(json.at("queries"));
  spec.sizes = word_of<EpisodeSizes>(json, "sizes");
  spec.support_limit = json.at("support_limit").get<std::uint32_t>();
  spec.query_split = word_of<QuerySplit>(json, "query_split");
  spec.query_weights = json.at("query_weights").get<std::vector<double>>();
  spec.classes = word_of<ClassDraw>(json, "classes");
  spec.binding = word_of<SampleBinding>(json, "binding");
  spec.labels = word_of<LabelMap>(json, "label_map");
  spec.within_superclass = json.at("within_superclass").get<bool>();
  spec.class_weights = weights_of(json.at("class_weights"));
  spec.mixture = weights_of(json.at("mixture"));
  for (const nlohmann::json& each : json.at("only")) spec.only.push_back(name_in(each));
  for (const nlohmann::json& each : json.at("augment"))
    spec.augment.push_back(word_of<ClassAugment>(nlohmann::json{{"word", each}}, "word"));
  spec.unlabelled = json.at("unlabelled").get<std::uint32_t>();
  spec.distractors = json.at("distractors").get<std::uint32_t>();
  spec.small_classes = word_of<SmallClasses>(json, "small_classes");
  if (json.contains("tasks_per_epoch")) spec.tasks_per_epoch = json.at("tasks_per_epoch").get<std::uint64_t>();
  spec.fixed = json.at("fixed").get<bool>();
  return spec;
}

}  // namespace feedring
