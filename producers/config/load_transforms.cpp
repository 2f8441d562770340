// SPDX-License-Identifier: Apache-2.0
#include "producers/config/load_transforms.hpp"

#include "producers/config/toml_json.hpp"

namespace feedring {

void read_transforms(TomlTable& table, nlohmann::json& transforms, const std::string& file) {
  static constexpr std::string_view kExpected = "a list of transforms such as [ { name = \"Resize\", size = 256 } ]";
  const toml::node* node = table.find("transform");
  if (node == nullptr) return;
  if (!node->is_array()) table.wrong("transform", *node, kExpected);
  for (const toml::node& each : *node->as_array()) {
    const toml::table* transform = each.as_table();
    const toml::node* name = transform != nullptr ? transform->get("name") : nullptr;
    if (name == nullptr || !name->is_string()) {
      fail_at(file, each.source(),
              "each transform is a table with a name, such as { name = \"RandomHorizontalFlip\" }");
    }
    transforms.push_back(to_json_value(each, file));
  }
}

}  // namespace feedring
