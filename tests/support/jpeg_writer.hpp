// SPDX-License-Identifier: Apache-2.0
// Small JPEGs of every shape that libjpeg can write, for tests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include <jpeglib.h>

namespace feedring::test {

struct JpegShape {
  int width = 1;
  int height = 1;
  int components = 3;  ///< 1 gray, 2 unknown, 3 colour, 4 CMYK
  bool ycc = true;     ///< YCbCr or YCCK rather than RGB or CMYK
  int h[4] = {1, 1, 1, 1};
  int v[4] = {1, 1, 1, 1};
  int quality = 90;
  int restart_rows = 0;
  bool progressive = false;
  bool arithmetic = false;
  bool optimized = false;             ///< Huffman codes made for this picture
  std::vector<jpeg_scan_info> scans;  ///< empty: libjpeg's own
  std::uint32_t seed = 1;
};

/// A picture of smooth ramps with noise, as a JPEG. libjpeg ends the program on a shape that it cannot write.
inline std::vector<std::uint8_t> write_jpeg(const JpegShape& shape) {
  jpeg_compress_struct cinfo;
  jpeg_error_mgr errors;
  cinfo.err = jpeg_std_error(&errors);
  jpeg_create_compress(&cinfo);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&cinfo, &bytes, &size);
  cinfo.image_width = static_cast<JDIMENSION>(shape.width);
  cinfo.image_height = static_cast<JDIMENSION>(shape.height);
  cinfo.input_components = shape.components;
  const J_COLOR_SPACE in[] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_UNKNOWN, JCS_RGB, JCS_CMYK};
  const J_COLOR_SPACE ycc[] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_UNKNOWN, JCS_YCbCr, JCS_YCCK};
  cinfo.in_color_space = in[shape.components];
  jpeg_set_defaults(&cinfo);
  jpeg_set_colorspace(&cinfo, shape.ycc ? ycc[shape.components] : in[shape.components]);
  jpeg_set_quality(&cinfo, shape.quality, TRUE);
  for (int i = 0; i < shape.components; ++i) {
    cinfo.comp_info[i].h_samp_factor = shape.h[i];
    cinfo.comp_info[i].v_samp_factor = shape.v[i];
  }
  cinfo.restart_in_rows = shape.restart_rows;
  cinfo.arith_code = shape.arithmetic ? TRUE : FALSE;
  cinfo.optimize_coding = shape.optimized ? TRUE : FALSE;
  if (shape.progressive) jpeg_simple_progression(&cinfo);
  if (!shape.scans.empty()) {
    cinfo.scan_info = shape.scans.data();
    cinfo.num_scans = static_cast<int>(shape.scans.size());
  }
  jpeg_start_compress(&cinfo, TRUE);
  std::mt19937 rng(shape.seed);
  std::vector<std::uint8_t> row(static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(shape.components));
  for (int y = 0; y < shape.height; ++y) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(y) * 5 + rng() % 60);
    }
    JSAMPROW rows[] = {row.data()};
    jpeg_write_scanlines(&cinfo, rows, 1);
  }
  jpeg_finish_compress(&cinfo);
  jpeg_destroy_compress(&cinfo);
  std::vector<std::uint8_t> file(bytes, bytes + size);
  std::free(bytes);
  return file;
}

}  // namespace feedring::test
