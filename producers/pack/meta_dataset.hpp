// SPDX-License-Identifier: Apache-2.0
// Meta-Dataset's converted data sets: a folder with dataset_spec.json and a file of records a class.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "producers/pack/source.hpp"

namespace feedring::pack {

/// Whether `data` is such a folder, or the dataset_spec.json in it.
[[nodiscard]] bool is_meta_dataset(const std::filesystem::path& data);

/// Opens its classes, or those of a split: "train", "valid" (or "val") or "test". They are called as in the
/// specification, with their superclass in front where there is one. Throws Error(kUsage) for another split,
/// Error(kData) for what is damaged or is not what the specification says.
[[nodiscard]] std::unique_ptr<Source> open_meta_dataset(const std::filesystem::path& data, const std::string& split);

}  // namespace feedring::pack
