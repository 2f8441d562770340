// SPDX-License-Identifier: Apache-2.0
// The keys views and columns: what tensors a sample has. Internal to load*.cpp: it includes toml++.
#pragma once

#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"
#include "producers/config/toml_table.hpp"

namespace feedring {

/// The views of a feed, in the file's order; none where the key is absent. `source` is the feed's table. Throws
/// Error(kUsage) with file and line.
[[nodiscard]] std::vector<ViewSpec> read_views(TomlTable& table, const toml::table& source, const std::string& feed,
                                               const std::string& file);

/// The columns of a feed, likewise; `views` are the feed's.
[[nodiscard]] std::vector<ColumnSpec> read_columns(TomlTable& table, const std::string& feed,
                                                   const std::vector<ViewSpec>& views, const std::string& file);

}  // namespace feedring
