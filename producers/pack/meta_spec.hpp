// SPDX-License-Identifier: Apache-2.0
// Meta-Dataset's dataset_spec.json. Internal to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace feedring::pack {

struct MetaSpec {
  struct Class {
    std::string name;
    std::uint64_t images = 0;
    std::uint32_t split = 3;  ///< 0 train, 1 valid, 2 test; 3: of none
  };
  std::vector<Class> classes;  ///< by their numbers
  bool sharded = false;        ///< a class has several files: NUMBER_SHARD.tfrecords
};

/// Throws Error(kData).
[[nodiscard]] MetaSpec read_meta_spec(const std::filesystem::path& file);

}  // namespace feedring::pack
