// SPDX-License-Identifier: Apache-2.0
#include "producers/config/toml_json.hpp"

#include <cmath>

#include "producers/config/toml_table.hpp"

namespace feedring {

nlohmann::json to_json_value(const toml::node& node, const std::string& file) {
  if (const auto* table = node.as_table()) {
    nlohmann::json object = nlohmann::json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json_value(value, file);
    return object;
  }
  if (const auto* array = node.as_array()) {
    nlohmann::json list = nlohmann::json::array();
    for (const toml::node& value : *array) list.push_back(to_json_value(value, file));
    return list;
  }
  if (node.is_string()) return node.ref<std::string>();
  if (node.is_integer()) return node.ref<std::int64_t>();
  if (node.is_boolean()) return node.ref<bool>();
  if (node.is_floating_point() && std::isfinite(node.ref<double>())) return node.ref<double>();
  fail_at(file, node.source(),
          "the parameters of transforms and options are finite numbers, strings, booleans, lists and tables, not " +
              described(node));
}

}  // namespace feedring
