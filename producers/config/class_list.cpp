// SPDX-License-Identifier: Apache-2.0
#include "producers/config/class_list.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "producers/config/suggest.hpp"
#include "producers/config/toml_table.hpp"

namespace feedring {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t kLargestList = 64U << 20;  ///< a device or an archive by mistake is not read for minutes
constexpr std::string_view kBuiltin = "builtin:";

[[noreturn]] void fail(const std::string& list, const std::string& why) {
  throw Error(ErrorKind::kUsage, "the list of classes " + list + " cannot be read: " + why);
}

/// A name for a message, cut short where it has no end.
std::string in_quotes(const std::string& name) {
  constexpr std::size_t kLongest = 400;
  return '"' + name.substr(0, kLongest) + (name.size() > kLongest ? "...\"" : "\"");
}

/// The lists of the installation that this program belongs to.
fs::path builtin_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "share" / "feedring" / "classes";
}

std::vector<std::string> builtin_names() {
  std::vector<std::string> names;
  std::error_code error;
  for (auto set = fs::directory_iterator(builtin_folder(), error); !error && set != fs::directory_iterator();
       set.increment(error)) {
    std::error_code ignored;
    for (const fs::directory_entry& split : fs::directory_iterator(set->path(), ignored)) {
      names.push_back(std::string(kBuiltin) + set->path().filename().string() + '/' + split.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path builtin_file(const std::string& list) {
  const std::vector<std::string> names = builtin_names();
  if (std::find(names.begin(), names.end(), list) == names.end()) {
    std::string hint = did_you_mean(list, {names.begin(), names.end()});
    const bool near = !hint.empty();
    for (std::size_t i = 0; !near && i < names.size(); ++i) hint += (i == 0 ? "; there are " : ", ") + names[i];
    fail(list, "this installation of feedring has no such list" + hint);
  }
  return builtin_folder() / (list.substr(kBuiltin.size()) + ".txt");
}

std::string read_text(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) fail(file.string(), error.message());
  if (!fs::is_regular_file(status) || fs::file_size(file) > kLargestList) fail(file.string(), "it is no list of names");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file.string(), std::strerror(errno));
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad()) fail(file.string(), std::strerror(errno));
  if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);
  return text;
}

std::vector<std::string> names_in_json(const std::string& text, const fs::path& file) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  // By reference: a copy of what is nested deep would overflow the stack.
  const nlohmann::json& list = json.is_object() && json.contains("class_names") ? json["class_names"] : json;
  std::vector<std::string> names;
  for (const nlohmann::json& each : list) {
    if (list.is_array() && each.is_string()) {
      names.push_back(each.get<std::string>());
    } else if (list.is_array() && each.is_array() && each.size() == 2 && each[0].is_string() && each[1].is_string()) {
      names.push_back(each[0].get<std::string>() + '/' + each[1].get<std::string>());
    } else {
      names.clear();
      break;
    }
  }
  if (names.empty()) {
    fail(file.string(),
         "it is no JSON list of names or of pairs [superclass, name], nor an object with \"class_names\"");
  }
  return names;
}

/// The first field of a record of a .csv: within quotes those that are doubled are one.
std::string first_field(const std::string& line, const fs::path& file) {
  if (!line.starts_with('"')) return line.substr(0, line.find(','));
  std::string field;
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '"') {
      const bool doubled = at + 1 < line.size() && line[at + 1] == '"';
      if (!doubled && (at + 1 == line.size() || line[at + 1] == ',')) return field;
      if (!doubled) break;
      ++at;
    }
    field.push_back(line[at]);
  }
  fail(file.string(), "it has a quote that does not end as it should");
}

std::vector<std::string> names_in_lines(const std::string& text, bool csv, const fs::path& file) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    if (csv) line = first_field(line, file);
    if (csv && names.empty() && (line == "path" || line == "filename" || line == "image_name")) {
      fail(file.string(), "it lists samples, not classes: give it as data");
    }
    const bool head = csv && names.empty() && (line == "synset" || line == "class_name" || line == "label");
    if (!line.empty() && line.front() != '#' && !head) names.push_back(std::move(line));
  }
  if (names.empty()) fail(file.string(), "it names no class");
  return names;
}

}  // namespace

std::vector<std::string> read_class_list(const std::string& list, const fs::path& folder) {
  const fs::path file = list.starts_with(kBuiltin) ? builtin_file(list) : (folder / list).lexically_normal();
  const std::string text = read_text(file);
  std::vector<std::string> names =
      file.extension() == ".json" ? names_in_json(text, file) : names_in_lines(text, file.extension() == ".csv", file);
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (name.find('\0') != std::string::npos) fail(file.string(), "it is no text");
    if (!seen.insert(name).second) fail(file.string(), "it names the class " + in_quotes(name) + " twice");
  }
  return names;
}

std::vector<std::string> read_class_key(TomlTable& table, std::string_view key, const fs::path& folder,
                                        const std::string& file) {
  static constexpr std::string_view kExpected = "a list of class names, or a path to a file with a name a line";
  const toml::node* node = table.find(key);
  if (node == nullptr) return {};
  if (node->is_string() && !node->ref<std::string>().empty()) {
    try {
      return read_class_list(node->ref<std::string>(), folder);
    } catch (const Error& error) {
      fail_at(file, node->source(), error.what());
    }
  }
  if (!node->is_array() || node->as_array()->empty()) table.wrong(key, *node, kExpected);
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const toml::node& each : *node->as_array()) {
    if (!each.is_string() || each.ref<std::string>().empty()) table.wrong(key, each, kExpected);
    names.push_back(each.ref<std::string>());
    if (!seen.insert(each.ref<std::string>()).second) {
      fail_at(file, node->source(),
              '"' + std::string(key) + "\" names the class " + in_quotes(names.back()) + " twice");
    }
  }
  return names;
}

}  // namespace feedring
