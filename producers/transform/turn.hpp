// SPDX-License-Identifier: Apache-2.0
// Class augmentations: the images of a class, turned or mirrored, are another class.
#pragma once

#include <cstdint>
#include <vector>

#include "producers/decode/image.hpp"
#include "producers/plan/episode_spec.hpp"

namespace feedring {

/// Size of an image of `size` pixels after it was turned: a quarter turn exchanges the sides.
[[nodiscard]] Size turned_size(Size size, ClassAugment how) noexcept;

/// `image`, turned: what Pillow's Image.transpose() makes with ROTATE_90 (counterclockwise), ROTATE_180, ROTATE_270,
/// FLIP_LEFT_RIGHT (hflip) and FLIP_TOP_BOTTOM (vflip). The result lies in `memory`, which is used again, without gaps,
/// and with kSlack readable bytes behind it.
[[nodiscard]] RgbView turn(RgbView image, ClassAugment how, std::vector<std::uint8_t>& memory);

}  // namespace feedring
