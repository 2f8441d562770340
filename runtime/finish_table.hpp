// SPDX-License-Identifier: Apache-2.0
// What is left to do to 8 bit interleaved RGB where the rank's device finishes a batch: a pixel value is one of 256, so
// that whatever ToDtype and Normalize compute is a table of results for each channel. The supervisor makes it with the
// producers' own arithmetic and hands it to the rank at attach; so a value does not depend on who finishes.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/layout.hpp"

namespace feedring {

struct FinishTable {
  Dtype dtype = Dtype::kFloat32;  ///< of the finished elements
  Layout layout = Layout::kNchw;  ///< of the finished bytes
  /// The bits of channel c's result for pixel value v at [256 c + v]; of small types the low ones.
  std::array<std::uint32_t, 768> bits{};
};

}  // namespace feedring
