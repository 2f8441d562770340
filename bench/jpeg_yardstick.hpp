// SPDX-License-Identifier: Apache-2.0
// The yardstick of what is measured on JPEGs: libjpeg-turbo's own decode of the whole picture, and nothing else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace feedring::bench {

using Bytes = std::vector<unsigned char>;

/// The bytes of each `every`-th JPEG below a folder, in the order of their paths.
inline std::vector<Bytes> read_all(const std::filesystem::path& folder, std::size_t every = 1) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() && (extension == ".jpg" || extension == ".jpeg" || extension == ".JPEG"))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  for (std::size_t i = 0; i < paths.size(); i += every) {
    std::ifstream file(paths[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

/// The whole picture, row by row into `pixels`, which grows as needed. An error ends the program: the yardstick is
/// given good files.
inline void full_decode(const Bytes& file, Bytes& pixels) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = info.jpeg_color_space == JCS_YCCK || info.jpeg_color_space == JCS_CMYK ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&info);
  const std::size_t stride = std::size_t{info.output_width} * static_cast<std::size_t>(info.output_components);
  pixels.resize(std::max(pixels.size(), stride * info.output_height));
  while (info.output_scanline < info.output_height) {
    JSAMPROW rows[16];
    const JDIMENSION left = std::min(info.output_height - info.output_scanline, 16U);
    for (JDIMENSION i = 0; i < left; ++i) rows[i] = pixels.data() + (info.output_scanline + i) * stride;
    jpeg_read_scanlines(&info, rows, left);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

}  // namespace feedring::bench
