// SPDX-License-Identifier: Apache-2.0
// Operations that mix the channels of a pixel.
#pragma once

#include "producers/transform/tables.hpp"

namespace feedring {

/// Pillow's convert("L"), in all three channels.
void make_gray(const RgbPixels& image) noexcept;

/// ImageEnhance.Color: from the gray image (0) to the image (1) and beyond.
void saturate(const RgbPixels& image, double factor) noexcept;

/// Turns the hue by `share` of the circle, from -0.5 to 0.5, through Pillow's HSV of 8 bits a channel, whose hue has
/// 255 steps: torchvision's adjust_hue of a Pillow image.
void turn_hue(const RgbPixels& image, double share) noexcept;

}  // namespace feedring
