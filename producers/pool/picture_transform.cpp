// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/picture_transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>

namespace feedring {

void PictureTransform::run(const RgbPicture& picture, std::span<std::byte> out) {
  const std::uint64_t pixels = std::uint64_t{picture.height} * picture.width;
  // Within this, sides fit into what a Size holds.
  if (picture.rgb == nullptr || pixels == 0 || pixels > std::min<std::uint64_t>(max_pixels_, INT32_MAX) ||
      picture.stride < std::size_t{picture.width} * 3) {
    throw Error(ErrorKind::kData,
                fmt::format("a picture of {} x {} pixels with rows {} bytes apart is empty, or larger than {} pixels",
                            picture.width, picture.height, picture.stride, max_pixels_));
  }
  const RgbView view{picture.rgb,
                     {static_cast<std::int32_t>(picture.width), static_cast<std::int32_t>(picture.height)},
                     picture.stride};
  Draw random = random_;  // the same choices, should it be put twice
  if (const Fault fault = pipeline_.run(view, random, max_pixels_, reinterpret_cast<std::uint8_t*>(out.data())))
    throw Error(ErrorKind::kData, *fault);
}

}  // namespace feedring
