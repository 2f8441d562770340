// SPDX-License-Identifier: Apache-2.0
#include "runtime/cgroup.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

namespace feedring {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool lists(std::string_view comma_separated, std::string_view word) {
  while (true) {
    const std::size_t comma = comma_separated.find(',');
    if (comma_separated.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    comma_separated.remove_prefix(comma + 1);
  }
}

/// proc(5): blanks, tabs, newlines and backslashes in a path of mountinfo are \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct Mount {
  std::string top;  ///< the group within its hierarchy that is visible at `point`
  std::string point;
};

/// Mounts of version 1's hierarchy of `controller` ("" for version 2's).
std::vector<Mount> mounts_of(std::string_view controller, const fs::path& root) {
  std::vector<Mount> mounts;
  std::ifstream stream(root / "proc/self/mountinfo");
  for (std::string line; std::getline(stream, line);) {
    // 35 31 0:32 TOP POINT rw,relatime shared:9 - cgroup cgroup rw,memory
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string skipped;
    std::string top;
    std::string point;
    std::string type;
    std::string options;
    before >> skipped >> skipped >> skipped >> top >> point;
    after >> type >> skipped >> options;
    const bool wanted = controller.empty() ? type == "cgroup2" : type == "cgroup" && lists(options, controller);
    if (wanted && !point.empty()) mounts.push_back({unescaped(top), unescaped(point)});
  }
  return mounts;
}

/// The process's group in that hierarchy, as /proc/self/cgroup calls it.
std::optional<std::string> group_in(std::string_view controller, const fs::path& root) {
  std::ifstream stream(root / "proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    // 4:memory:/a/b and, for version 2, 0::/a/b
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const bool wanted = controller.empty() ? line.starts_with("0::") : lists(controllers, controller);
    if (wanted) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// `group` relative to what the mount shows. A container often sees only its own group: mounted from there, named from
/// the host's top, or (with a namespace of its own) as "/", or as "/../x" where the process was moved out of it. What
/// cannot be seen is answered with the top of the mount.
std::string below(const Mount& mount, const std::string& group) {
  const std::string top = mount.top == "/" ? "" : mount.top;
  if (!group.starts_with(top) || (group + '/').find("/../") != std::string::npos) return "";
  const std::string rest = group.substr(top.size());
  return rest.empty() || rest.front() != '/' ? "" : rest.substr(1);
}

std::optional<Cgroup> find(std::string_view controller, int version, const fs::path& root) {
  const std::vector<Mount> mounts = mounts_of(controller, root);
  const std::optional<std::string> group = group_in(controller, root);
  if (mounts.empty() || !group) return std::nullopt;
  const auto covers = [&](const Mount& mount) {
    return mount.top == "/" || *group == mount.top || group->starts_with(mount.top + '/');
  };
  const auto match = std::find_if(mounts.begin(), mounts.end(), covers);
  const Mount& mount = match == mounts.end() ? mounts.front() : *match;
  const fs::path top = root / fs::path(mount.point).relative_path();
  fs::path relative = below(mount, *group);
  Cgroup cgroup{version, {}};
  while (true) {
    const fs::path folder = relative.empty() ? top : top / relative;
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) cgroup.folders.push_back(folder);
    if (relative.empty()) break;
    relative = relative.parent_path();
  }
  if (cgroup.folders.empty()) return std::nullopt;
  return cgroup;
}

}  // namespace

std::vector<Cgroup> cgroups_of(std::string_view controller, const fs::path& root) {
  std::vector<Cgroup> cgroups;
  if (auto found = find(controller, 1, root)) cgroups.push_back(std::move(*found));
  if (auto found = find("", 2, root)) cgroups.push_back(std::move(*found));
  return cgroups;
}

std::optional<std::string> read_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  return line;
}

std::optional<std::uint64_t> read_number(const fs::path& file) {
  const std::optional<std::string> line = read_line(file);
  return line ? number_of(*line) : std::nullopt;
}

std::optional<std::uint64_t> read_number_of(const fs::path& file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string name;
    std::string number;
    words >> name >> number;
    if (name == key || (name.ends_with(':') && std::string_view(name).substr(0, name.size() - 1) == key))
      return number_of(number);
  }
  return std::nullopt;
}

}  // namespace feedring
