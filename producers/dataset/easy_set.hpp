// SPDX-License-Identifier: Apache-2.0
// easyfsl's EasySet: a JSON file that names classes and the folder of each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "producers/dataset/choice.hpp"
#include "producers/dataset/scan.hpp"

namespace feedring {

/// Reads `{"class_names": […], "class_roots": […]}`: classes have the order of the file. The folders are found beside
/// the file, or below the nearest folder above it where the first one is: such files are written for the folder in
/// which their scripts run. Throws Error(kData).
[[nodiscard]] Scan read_easy_set(const std::filesystem::path& file, const std::vector<std::string>* classes_from,
                                 const DataChoice& choice);

}  // namespace feedring
