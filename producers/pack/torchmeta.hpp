// SPDX-License-Identifier: Apache-2.0
// TorchMeta's data sets: HDF5 files with the lists of classes beside them as JSON.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "producers/pack/source.hpp"

namespace feedring::pack {

struct TorchMeta {
  std::filesystem::path hdf5;
  std::filesystem::path labels;  ///< which classes, in this order; empty: all that are in the file
};

/// What `data` means: a folder, for which a split is needed where each has a file of its own; an .hdf5 file; or a
/// ….labels.json. nullopt: nothing of TorchMeta's. Throws Error(kUsage) where a split is missing, or has no list.
[[nodiscard]] std::optional<TorchMeta> find_torchmeta(const std::filesystem::path& data, const std::string& split);

/// Opens it, read by `reader` (producers/hdf5). Classes are called as in the list: by the name, or superclass/class, or
/// set/alphabet/character. Throws Error(kData).
[[nodiscard]] std::unique_ptr<Source> open_torchmeta(const TorchMeta& torchmeta, const std::filesystem::path& reader);

}  // namespace feedring::pack
