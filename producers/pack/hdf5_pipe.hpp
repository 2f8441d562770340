// SPDX-License-Identifier: Apache-2.0
// What `feedring import` and the program that reads HDF5 for it say to each other over a socket: requests are the
// number of a data set and of a row, answers are frames. They are one machine's two programs of one build.
#pragma once

#include <cstdint>

namespace feedring::pack {

/// A row that is asked for. The first answer, before any request, is the listing: a JSON list of
/// {"name", "kind": "files" | "pixels" | "other", "rows", "shape": of a row, "superclass"}.
struct Hdf5Request {
  std::uint64_t dataset;
  std::uint64_t row;
};

/// Stands before the bytes of each answer.
struct Hdf5Frame {
  std::uint64_t bytes;
  std::uint64_t failed;  ///< 1: they are a sentence about what is wrong, and nothing follows
};

/// No frame has more: rows, which become files of a pack, nor the listing.
inline constexpr std::uint64_t kLargestFrame = std::uint64_t{1} << 28;

}  // namespace feedring::pack
