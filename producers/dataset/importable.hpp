// SPDX-License-Identifier: Apache-2.0
// Files of data sets that no feed reads as they lie, but `feedring import` does (producers/pack).
#pragma once

#include <filesystem>
#include <optional>

namespace feedring {

enum class Importable { kPickle, kNpz, kHdf5, kRecords };

/// By the file's name; a pickle of protocol 2 to 5 also by its first bytes. nullopt: something else, or no regular
/// file.
[[nodiscard]] std::optional<Importable> importable(const std::filesystem::path& file);

/// Throws Error(kData) that says how to import it, where it is such a file.
void refuse_importable(const std::filesystem::path& file);

}  // namespace feedring
