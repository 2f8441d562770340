// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/pack_head.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "producers/dataset/labels.hpp"

namespace feedring {

std::string write_pack_head(const std::vector<std::string>& classes, const std::vector<std::uint64_t>& samples) {
  nlohmann::ordered_json head = {{"feedring_pack", 1}, {"classes", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const nlohmann::ordered_json entry = {classes[i], samples.at(i)};
    try {
      (void)entry.dump();
    } catch (const nlohmann::ordered_json::exception&) {
      throw Error(ErrorKind::kData, fmt::format("the class {} cannot be packed: its name is not UTF-8; rename it",
                                                dataset::shown(classes[i])));
    }
    head["classes"].push_back(entry);
  }
  return head.dump() + '\n';
}

std::optional<PackHead> read_pack_head(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto version = json.find("feedring_pack"), classes = json.find("classes");  // never a copy: it may be deep
  if (version == json.end() || *version != 1 || classes == json.end() || !classes->is_array()) return std::nullopt;
  PackHead head;
  std::set<std::string_view> names;
  std::uint64_t all = 0;
  for (const nlohmann::json& each : *classes) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_string() || !each[1].is_number_unsigned())
      return std::nullopt;
    if (!names.insert(each[0].get_ref<const std::string&>()).second) return std::nullopt;
    head.classes.push_back(each[0].get<std::string>());
    head.samples.push_back(each[1].get<std::uint64_t>());
    if (head.samples.back() > std::numeric_limits<std::uint32_t>::max() - all) return std::nullopt;
    all += head.samples.back();
  }
  return head;
}

}  // namespace feedring
