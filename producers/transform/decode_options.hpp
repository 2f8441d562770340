// SPDX-License-Identifier: Apache-2.0
// How a feed's files are read, by its configuration.
#pragma once

#include "producers/config/feed_spec.hpp"
#include "producers/decode/image.hpp"

namespace feedring {

[[nodiscard]] inline DecodeOptions decode_options(const FeedSpec& spec) {
  DecodeOptions options;
  options.accept_damaged = spec.accept_damaged;
  options.exif_orientation = spec.exif_orientation;
  if (spec.background) options.background = Rgb{(*spec.background)[0], (*spec.background)[1], (*spec.background)[2]};
  return options;
}

}  // namespace feedring
