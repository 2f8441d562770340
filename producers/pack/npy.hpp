// SPDX-License-Identifier: Apache-2.0
// The head of NumPy's own array files (.npy, and the members of an .npz). Internal to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedring::pack {

struct NpyHead {
  std::string dtype;  ///< as it stands there: "|u1", "<i8", …
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  ///< of the numbers in the file
};

/// So many bytes hold any head that is read here.
inline constexpr std::uint64_t kLongestNpyHead = 1 << 16;

/// `file` is the file, or its first kLongestNpyHead bytes. nullopt: it does not begin as versions 1 to 3 do.
[[nodiscard]] std::optional<NpyHead> read_npy_head(std::string_view file);

}  // namespace feedring::pack
