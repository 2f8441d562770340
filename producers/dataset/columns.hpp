// SPDX-License-Identifier: Apache-2.0
// What the columns of a table, and the keys of a JSON line, are called. Internal to this folder.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace feedring::dataset {

inline constexpr std::array<std::string_view, 4> kPathNames = {"path", "filename", "file_name", "image_name"};
inline constexpr std::array<std::string_view, 3> kLabelNames = {"label", "class_name", "class"};
inline constexpr std::string_view kSuperclass = "superclass";  ///< with it the class is `superclass/label`
inline constexpr std::string_view kSplit = "split";
inline constexpr std::string_view kBytes = "bytes";

}  // namespace feedring::dataset
