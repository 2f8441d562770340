// SPDX-License-Identifier: Apache-2.0
#include <feedring/error.hpp>

#include "producers/config/feed_spec.hpp"
#include "producers/config/json_text.hpp"
#include "producers/config/json_words.hpp"
#include "producers/config/order_json.hpp"

namespace feedring {
nlohmann::json to_json(const FeedSpec& spec) {
  nlohmann::json json = {{"name", spec.name},
                         {"batch_size", spec.batch_size},
                         {"slots", spec.slots},
                         {"seed", spec.seed},
                         {"shuffle", spec.shuffle},
                         {"remainder", to_word(spec.remainder)},
                         {"on_error", to_word(spec.on_error)},
                         {"error_budget", spec.error_budget},
                         {"dtype", to_word(spec.dtype)},
                         {"layout", to_word(spec.layout)},
                         {"finish", to_word(spec.finish)},
                         {"cache", to_word(spec.cache)},
                         {"repeat", spec.repeat},
                         {"auto_epoch", spec.auto_epoch},
                         {"shard", to_word(spec.shard)},
                         {"max_pixels", spec.max_pixels},
                         {"accept_damaged", spec.accept_damaged},
                         {"exif_orientation", spec.exif_orientation},
                         {"item_deadline_s", spec.item_deadline_s},
                         {"transform", spec.transform}};
  put_bytes(json, "data", spec.data.native());
  if (!spec.split.empty()) put_bytes(json, "split", spec.split);
  if (spec.class_depth != 1) json["class_depth"] = spec.class_depth;
  for (const std::string& name : spec.classes) json["classes"].push_back(to_utf8(name));
  for (const ViewSpec& view : spec.views) {
    nlohmann::json each = {{"name", view.name}, {"transform", view.transform}};
    if (view.count) each["count"] = *view.count;
    json["views"].push_back(std::move(each));
  }
  for (const ColumnSpec& column : spec.columns)
    json["columns"].push_back({{"name", to_utf8(column.name)}, {"kind", kind_of(column)}});
  put_order(json, spec);
  if (spec.own) json["own"] = to_json(*spec.own);
  if (spec.classes_from) json["classes_from"] = *spec.classes_from;
  if (spec.background) json["background"] = *spec.background;
  if (spec.episodes) {
    json["episodes"] = to_json(*spec.episodes);
    json["episode_layout"] = to_word(spec.episode_layout);
  }
  return json;
}

FeedSpec feed_spec_from_json(const nlohmann::json& json) {
  try {
    FeedSpec spec;
    spec.name = json.at("name").get<std::string>();
    if (json.contains("own")) spec.own = own_spec_from_json(json.at("own"));
    const std::optional<std::string> data = get_bytes(json, "data");
    if (!data) throw Error(ErrorKind::kInternal, "the feed's description holds no path of its data");
    spec.data = *data;
    spec.split = get_bytes(json, "split").value_or("");
    spec.class_depth = json.value("class_depth", 1U);
    if (json.contains("classes")) spec.classes = json.at("classes").get<std::vector<std::string>>();
    get_order(json, spec);
    spec.batch_size = json.at("batch_size").get<std::uint32_t>();
    spec.slots = json.at("slots").get<std::uint32_t>();
    spec.seed = json.at("seed").get<std::uint64_t>();
    spec.shuffle = json.at("shuffle").get<bool>();
    spec.remainder = word_of<Remainder>(json, "remainder");
    spec.on_error = word_of<OnError>(json, "on_error");
    spec.error_budget = json.at("error_budget").get<double>();
    spec.dtype = word_of<Dtype>(json, "dtype");
    spec.layout = word_of<Layout>(json, "layout");
    spec.finish = word_of<FinishBy>(json, "finish");
    spec.cache = word_of<Cache>(json, "cache");
    spec.repeat = json.at("repeat").get<bool>();
    spec.auto_epoch = json.at("auto_epoch").get<bool>();
    spec.shard = word_of<Shard>(json, "shard");
    if (json.contains("classes_from")) spec.classes_from = json.at("classes_from").get<std::string>();
    spec.max_pixels = json.at("max_pixels").get<std::uint64_t>();
    spec.accept_damaged = json.at("accept_damaged").get<bool>();
    spec.exif_orientation = json.at("exif_orientation").get<bool>();
    if (json.contains("background")) spec.background = json.at("background").get<std::array<std::uint8_t, 3>>();
    spec.item_deadline_s = json.at("item_deadline_s").get<double>();
    spec.transform = json.at("transform");
    for (const nlohmann::json& each : json.value("columns", nlohmann::json::array())) {
      std::optional<ColumnSpec> column =
          column_of(each.at("name").get<std::string>(), each.at("kind").get<std::string>());
      if (!column) throw Error(ErrorKind::kInternal, "the feed's description has a column of a kind that is unknown");
      spec.columns.push_back(*std::move(column));
    }
    for (const nlohmann::json& each : json.value("views", nlohmann::json::array())) {
      ViewSpec view{each.at("name").get<std::string>(), std::nullopt, each.at("transform")};
      if (each.contains("count")) view.count = each.at("count").get<std::uint32_t>();
      spec.views.push_back(std::move(view));
    }
    if (json.contains("episodes")) {
      spec.episodes = episode_spec_from_json(json.at("episodes"));
      spec.episode_layout = word_of<EpisodeLayout>(json, "episode_layout");
    }
    return spec;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kInternal,
                std::string("the feed's description is not what this build writes: ") + error.what());
  }
}

}  // namespace feedring
