// SPDX-License-Identifier: Apache-2.0
// A TIFF in memory, opened with libtiff, and what libtiff said about it. Internal to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tiffio.h>

#include "producers/decode/image.hpp"

namespace feedring {

/// The first directory of a file. libtiff keeps a pointer to it, so it stays where it is.
class TiffFile {
 public:
  TiffFile() = default;
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  /// `bytes` outlives this. A fault where libtiff finds no directory that it understands.
  Fault open(std::span<const std::uint8_t> bytes);

  [[nodiscard]] TIFF* get() const noexcept { return tiff_.get(); }

  /// From here on what libtiff warns of counts as damage. Before, that is in the directory, most warnings are about
  /// tags that say nothing about a pixel.
  void pixels_begin() noexcept { in_pixels_ = true; }
  [[nodiscard]] bool is_damaged() const noexcept { return damaged_; }
  /// What was said first about the pixels, else about the directory, as a fault.
  [[nodiscard]] Fault says() const;

 private:
  struct Close {
    void operator()(TIFF* tiff) const noexcept { TIFFClose(tiff); }
  };
  static int on_error(TIFF*, void* file, const char* module, const char* format, va_list arguments);
  static int on_warning(TIFF*, void* file, const char* module, const char* format, va_list arguments);
  static tmsize_t read(thandle_t file, void* to, tmsize_t count);
  static toff_t seek(thandle_t file, toff_t offset, int whence);
  static toff_t size(thandle_t file);
  static int map(thandle_t file, void** base, toff_t* size);
  void note(const char* format, va_list arguments);

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool in_pixels_ = false;
  bool damaged_ = false;
  char text_[256] = "";  ///< no std::string: written while libtiff may be about to leave by a longjmp of its own
  std::unique_ptr<TIFF, Close> tiff_;
};

}  // namespace feedring
