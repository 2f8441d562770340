// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/label_file.hpp"

#include <algorithm>
#include <system_error>

#include "producers/pack/pickle.hpp"
#include "producers/pack/pictures.hpp"

namespace feedring::pack {
namespace fs = std::filesystem;

std::vector<std::string> names_in_meta(const fs::path& file, const char* key) {
  const fs::path meta = file.parent_path() / "meta";
  std::error_code error;
  if (!fs::is_regular_file(meta, error)) return {};
  const Pickle pickle(meta);
  const auto names = pickle.find(pickle.root(), key);
  return names ? pickle.texts(*names).value_or(std::vector<std::string>()) : std::vector<std::string>();
}

void name_classes(std::vector<std::string>& classes, const std::vector<std::string>& names,
                  const std::vector<std::int64_t>& numbers, const std::vector<std::string>& supers,
                  const std::optional<std::vector<std::int64_t>>& super_of) {
  const auto has = [](const std::vector<std::string>& list, std::int64_t number) {
    return number >= 0 && static_cast<std::size_t>(number) < list.size();
  };
  if (!std::all_of(classes.begin(), classes.end(), [&](const auto& name) { return has(names, std::stoll(name)); }))
    return;
  for (std::string& name : classes) {
    const std::int64_t number = std::stoll(name);
    name = names[static_cast<std::size_t>(number)];
    std::replace(name.begin(), name.end(), '/', '_');
    const auto at = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), number) - numbers.begin());
    if (!super_of || at >= super_of->size() || !has(supers, (*super_of)[at])) continue;
    name.insert(0, supers[static_cast<std::size_t>((*super_of)[at])] + '/');
  }
}

std::vector<std::string> read_label_file(const fs::path& file, std::vector<std::uint32_t>& labels) {
  const Pickle pickle(file);
  const auto specific = pickle.find(pickle.root(), "label_specific");
  const auto of = specific ? specific : pickle.find(pickle.root(), "labels");
  const auto numbers = of ? pickle.numbers(*of) : std::nullopt;
  if (!numbers) pickle.fail("has neither label_specific nor labels, of whole numbers");
  std::vector<std::string> classes = classes_of(*numbers, labels);
  const auto texts = [&](const char* key) {
    const auto value = pickle.find(pickle.root(), key);
    return value ? pickle.texts(*value).value_or(std::vector<std::string>()) : std::vector<std::string>();
  };
  const auto general = pickle.find(pickle.root(), "label_general");
  name_classes(classes, texts("label_specific_str"), *numbers, texts("label_general_str"),
               general ? pickle.numbers(*general) : std::nullopt);
  return classes;
}

}  // namespace feedring::pack
