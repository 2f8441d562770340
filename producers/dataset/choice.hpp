// SPDX-License-Identifier: Apache-2.0
// What of a data set is wanted, where it is not all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/column_spec.hpp"

namespace feedring {

struct DataChoice {
  std::string split;                  ///< of a folder: what lies in it under this name; of a manifest: rows; empty: all
  std::vector<std::string> classes;   ///< names of classes to keep; empty: all. ClassFilter says what a name means
  std::uint32_t class_depth = 1;      ///< so many levels of folders make a class: 2 for `Greek/character01`
  std::vector<ColumnSpec> columns{};  ///< of a manifest: what else is read of each sample
  std::string weights = {};           ///< of a manifest: the column of its samples' weights; empty: none
};

namespace dataset {

/// The classes that are kept. A wanted name `b` means the class `b` and classes `a/b` of any superclass; `a/b` means
/// `a/b`, or `b` in data without superclasses; `a/` means all classes of the superclass.
class ClassFilter {
 public:
  explicit ClassFilter(const std::vector<std::string>& wanted);

  [[nodiscard]] bool keeps_all() const noexcept { return unseen_.empty() && names_.empty() && supers_.empty(); }
  /// Whether the class is wanted; remembers that it is there.
  [[nodiscard]] bool keeps(std::string_view name);
  /// Throws Error(kData) where a wanted class was never asked about: `data` has none.
  void demand_all_seen(const std::filesystem::path& data) const;

 private:
  using Names = std::map<std::string, std::string, std::less<>>;  // from what may be met to what was wanted
  bool known(const Names& names, std::string_view name);

  Names names_;   // whole names
  Names supers_;  // superclasses that are wanted whole
  Names ends_;    // what stands behind the '/' of a wanted name: met without a superclass
  Names bare_;    // wanted names without a superclass: met with one
  std::set<std::string, std::less<>> unseen_;
};

/// What `split` means in `folder`: the folder of that name in it, or the manifest or archive. Throws Error(kData) that
/// says what was looked for.
[[nodiscard]] std::filesystem::path place_of_split(const std::filesystem::path& folder, const std::string& split);

}  // namespace dataset
}  // namespace feedring
