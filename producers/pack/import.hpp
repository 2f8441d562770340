// SPDX-License-Identifier: Apache-2.0
// What `feedring import` takes that a feed does not read as it lies.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "producers/pack/source.hpp"

namespace feedring::pack {

struct Import {
  std::filesystem::path data;
  std::filesystem::path beside;  ///< the folder of the pack, for what has to be unpacked first
  std::filesystem::path hdf5;    ///< the program that reads HDF5; not there where the build has none
  std::string split;             ///< empty: all of it
  bool has_classes = false;      ///< some classes alone are asked for
  bool has_files = false;        ///< some files alone, or classes at some depth
};

/// nullptr: it is data that a feed reads. Throws Error(kUsage) for a choice where there is none, Error(kData) for what
/// cannot be read.
[[nodiscard]] std::unique_ptr<Source> open_import(const Import& wanted);

}  // namespace feedring::pack
