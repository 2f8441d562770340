// SPDX-License-Identifier: Apache-2.0
// A pack: a tar with the images of a data set, class after class, and first a small file that says where each class
// begins (read_pack_head). Any tool reads it, and a feed takes it as data as it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "producers/pack/source.hpp"

namespace feedring::pack {

struct Report {
  std::uint64_t samples = 0;
  std::uint64_t classes = 0;
  std::uint64_t resumed = 0;   ///< samples that an interrupted import had written
  std::uint64_t bytes = 0;     ///< of the pack
  std::string dataset_digest;  ///< of a feed that has the pack as data
};

/// Writes all items of `source` into a new file `target`. What an interrupted import of the same source left beside it
/// is compared with the source, and gone on from. `progress` is told how many have been written. Throws Error(kUsage)
/// where the target is there already or another process is writing it, Error(kMemory) where the file system has not
/// enough room, Error(kData) where something cannot be read or written.
Report write_pack(Source& source, const std::filesystem::path& target,
                  const std::function<void(std::uint64_t)>& progress);

}  // namespace feedring::pack
