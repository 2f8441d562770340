// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <feedring/error.hpp>

#include "producers/config/feed_spec.hpp"
#include "producers/config/json_words.hpp"

namespace feedring {

nlohmann::json to_json(const OwnSpec& spec) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const OwnTensor& tensor : spec.tensors) {
    tensors.push_back({{"name", tensor.name}, {"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}});
    if (!tensor.transform.empty()) tensors.back()["transform"] = nlohmann::json::parse(tensor.transform);
  }
  nlohmann::json json = {{"samples", spec.samples}, {"tensors", std::move(tensors)}, {"options", spec.options}};
  if (spec.tasks) {
    json["tasks"] = {{"kind", to_word(spec.tasks->kind)},
                     {"shots", spec.tasks->shots},
                     {"queries", spec.tasks->queries},
                     {"noise_std", spec.tasks->noise_std},
                     {"seed", spec.tasks->seed}};
  }
  return json;
}

OwnSpec own_spec_from_json(const nlohmann::json& json) {
  OwnSpec spec;
  spec.samples = json.at("samples").get<std::uint64_t>();
  for (const nlohmann::json& each : json.at("tensors")) {
    const std::string name = each.at("dtype").get<std::string>();
    const auto dtype = std::find_if(kDtypes.begin(), kDtypes.end(), [&](Dtype d) { return name == name_of(d); });
    if (dtype == kDtypes.end())
      throw Error(ErrorKind::kInternal, "the feed's description holds an element type that nobody knows");
    spec.tensors.push_back({each.at("name").get<std::string>(), *dtype,
                            each.at("shape").get<std::vector<std::uint64_t>>(),
                            each.contains("transform") ? each["transform"].dump() : ""});
  }
  spec.options = json.at("options");
  if (json.contains("tasks")) {
    const nlohmann::json& tasks = json.at("tasks");
    spec.tasks = {word_of<Tasks>(tasks, "kind"), tasks.at("shots").get<std::uint32_t>(),
                  tasks.at("queries").get<std::uint32_t>(), tasks.at("noise_std").get<double>(),
                  tasks.at("seed").get<std::uint64_t>()};
  }
  return spec;
}

}  // namespace feedring
