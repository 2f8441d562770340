// SPDX-License-Identifier: Apache-2.0
// As much of JSON Schema (draft 2020-12) as the files of docs/schema use. A keyword that is not known here is an error
// of the schema, so that nothing in it is believed to be checked and is not.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace feedring::test {

inline bool is_of_type(const nlohmann::json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  return type == "null" && value.is_null();
}

/// "" where `value` is as `schema` says, else what is wrong, with its place.
inline std::string schema_error(const nlohmann::json& schema, const nlohmann::json& value,
                                const std::string& place = "$") {
  for (const auto& [keyword, rule] : schema.items()) {
    if (keyword == "$schema" || keyword == "title" || keyword == "description" || keyword == "required" ||
        keyword == "additionalProperties" || keyword == "properties") {
      continue;  // the first three say nothing, the others are looked at below
    }
    if (keyword == "type") {
      const nlohmann::json types = rule.is_array() ? rule : nlohmann::json::array({rule});
      if (std::none_of(types.begin(), types.end(), [&](const auto& type) { return is_of_type(value, type); })) {
        return place + " is " + value.dump() + ", expected " + rule.dump();
      }
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end())
        return place + " is " + value.dump() + ", none of " + rule.dump();
    } else if (keyword == "minimum") {
      if (value.is_number() && value < rule) return place + " is " + value.dump() + ", less than " + rule.dump();
    } else if (keyword == "maximum") {
      if (value.is_number() && value > rule) return place + " is " + value.dump() + ", more than " + rule.dump();
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        const std::string error = schema_error(rule, value[i], place + '[' + std::to_string(i) + ']');
        if (!error.empty()) return error;
      }
    } else if (keyword == "oneOf") {
      std::string errors;
      const auto fits = [&](const nlohmann::json& each) {
        const std::string error = schema_error(each, value, place);
        errors += "; " + error;
        return error.empty();
      };
      if (std::count_if(rule.begin(), rule.end(), fits) != 1)
        return place + " fits not exactly one of the forms" + errors;
    } else {
      return "the schema uses " + keyword + ", which the test does not know";
    }
  }
  if (!value.is_object()) return "";
  const nlohmann::json properties = schema.value("properties", nlohmann::json::object());
  for (const auto& name : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(name)) return place + " has no " + name.dump();
  }
  for (const auto& [name, member] : value.items()) {
    if (properties.contains(name)) {
      const std::string error = schema_error(properties[name], member, place + '.' + name);
      if (!error.empty()) return error;
    } else if (schema.value("additionalProperties", true) == false) {
      return place + " has a member " + name + " that the schema does not";
    }
  }
  return "";
}

/// docs/schema/NAME.json.
inline nlohmann::json schema_of(const std::string& name) {
  std::ifstream file(std::string(FEEDRING_SOURCE_DIR) + "/docs/schema/" + name + ".json");
  return nlohmann::json::parse(file);
}

}  // namespace feedring::test
