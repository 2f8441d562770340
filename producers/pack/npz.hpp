// SPDX-License-Identifier: Apache-2.0
// tieredImageNet as NumPy's archive of arrays.
#pragma once

#include <filesystem>
#include <memory>

#include "producers/pack/source.hpp"

namespace feedring::pack {

/// Opens `NAME_images.npz`: its array `images` has pictures (n, h, w, 3) of 8 bits in the order blue, green, red,
/// stored or deflated; `NAME_labels.pkl` beside it has their labels. What is deflated is unpacked into a file without a
/// name in `scratch`. Throws Error(kData) for anything else, Error(kMemory) for want of room.
[[nodiscard]] std::unique_ptr<Source> open_npz(const std::filesystem::path& file, const std::filesystem::path& scratch);

}  // namespace feedring::pack
