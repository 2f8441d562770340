// SPDX-License-Identifier: Apache-2.0
// Which part of a JPEG libjpeg-turbo has to reconstruct so that the pixels of a box come out exactly as in a decode of
// the whole image. Every rule was found by, and is held by, comparison of random boxes with whole decodes.
#pragma once

#include <cstdio>  // jpeglib.h uses FILE without including it

#include <jpeglib.h>

#include "producers/decode/image.hpp"

namespace feedring {

struct JpegPlan {
  bool crops = false;    ///< call jpeg_crop_scanline(left, width); it moves `left` down to an MCU edge
  JDIMENSION left = 0;   ///< first column of the output rows
  JDIMENSION width = 0;  ///< columns of the output rows
  JDIMENSION skip = 0;   ///< rows to leave out by jpeg_skip_scanlines
  JDIMENSION lead = 0;   ///< rows to read and throw away before the first row of the box
};

/// For a decompressor after jpeg_start_decompress and a box inside its image.
JpegPlan plan_jpeg(const jpeg_decompress_struct& cinfo, Box box);

}  // namespace feedring
