// SPDX-License-Identifier: Apache-2.0
// The transforms that a chain can hold, each read from its parameters. Internal to this folder.
#pragma once

#include <nlohmann/json.hpp>

#include "producers/transform/parameters.hpp"
#include "producers/transform/steps.hpp"

namespace feedring {

struct Parsed {
  Step step;
  nlohmann::json canonical;  ///< every parameter written out, without the name
};

Parsed parse_resize(const Parameters& from);
Parsed parse_center_crop(const Parameters& from);
Parsed parse_random_resized_crop(const Parameters& from);
Parsed parse_pad(const Parameters& from);
Parsed parse_random_crop(const Parameters& from);
Parsed parse_horizontal_flip(const Parameters& from);
Parsed parse_vertical_flip(const Parameters& from);

Parsed parse_grayscale(const Parameters& from);
Parsed parse_random_grayscale(const Parameters& from);
Parsed parse_random_invert(const Parameters& from);
Parsed parse_random_posterize(const Parameters& from);
Parsed parse_random_solarize(const Parameters& from);
Parsed parse_random_adjust_sharpness(const Parameters& from);
Parsed parse_random_autocontrast(const Parameters& from);
Parsed parse_random_equalize(const Parameters& from);
Parsed parse_color_jitter(const Parameters& from);

Parsed parse_gaussian_blur(const Parameters& from);
Parsed parse_random_erasing(const Parameters& from);

Parsed parse_random_rotation(const Parameters& from);
Parsed parse_random_affine(const Parameters& from);

Parsed parse_rand_augment(const Parameters& from);
Parsed parse_trivial_augment_wide(const Parameters& from);
Parsed parse_auto_augment(const Parameters& from);

Parsed parse_normalize(const Parameters& from);
Parsed parse_to_dtype(const Parameters& from);

}  // namespace feedring
