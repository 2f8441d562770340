// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/tiff_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace feedring {
namespace {

// Of libtiff's own allocations, which are tables of strips and buffers of one strip or tile.
constexpr tmsize_t kLargestAllocation = tmsize_t{512} << 20;

struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
};

tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
int close_nothing(thandle_t) { return 0; }
void unmap_nothing(thandle_t, void*, toff_t) {}

}  // namespace

Fault TiffFile::open(std::span<const std::uint8_t> bytes) {
  bytes_ = bytes;
  const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  if (!options) return "no memory for a TIFF decoder";
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kLargestAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, this);
  tiff_.reset(TIFFClientOpenExt("TIFF", "r", this, read, write_nothing, seek, close_nothing, size, map, unmap_nothing,
                                options.get()));
  if (!tiff_) return says();
  return std::nullopt;
}

Fault TiffFile::says() const { return fmt::format("libtiff: {}", text_[0] != 0 ? text_ : "the file is damaged"); }

void TiffFile::note(const char* format, va_list arguments) {
  if (damaged_) return;  // the first sentence about the pixels is the cause of the others
  damaged_ = in_pixels_;
  std::vsnprintf(text_, sizeof text_, format, arguments);
}

int TiffFile::on_error(TIFF*, void* file, const char*, const char* format, va_list arguments) {
  static_cast<TiffFile*>(file)->note(format, arguments);
  return 1;
}

int TiffFile::on_warning(TIFF*, void* file, const char* module, const char* format, va_list arguments) {
  auto& self = *static_cast<TiffFile*>(file);
  // Every old-style JPEG is warned of, and of each what its headers lack, which libtiff knows to complete.
  const bool is_old_jpeg = module != nullptr && std::strncmp(module, "OJPEG", 5) == 0;
  if (self.in_pixels_ && !is_old_jpeg) self.note(format, arguments);
  return 1;
}

tmsize_t TiffFile::read(thandle_t file, void* to, tmsize_t count) {
  auto& self = *static_cast<TiffFile*>(file);
  const std::size_t left = self.bytes_.size() - std::min(self.at_, self.bytes_.size());
  const std::size_t got = std::min(left, static_cast<std::size_t>(std::max<tmsize_t>(count, 0)));
  if (got > 0) std::memcpy(to, self.bytes_.data() + self.at_, got);
  self.at_ += got;
  return static_cast<tmsize_t>(got);
}

toff_t TiffFile::seek(thandle_t file, toff_t offset, int whence) {
  auto& self = *static_cast<TiffFile*>(file);
  const toff_t from = whence == SEEK_CUR ? self.at_ : whence == SEEK_END ? self.bytes_.size() : 0;
  self.at_ = static_cast<std::size_t>(from + offset);
  return self.at_;
}

toff_t TiffFile::size(thandle_t file) { return static_cast<TiffFile*>(file)->bytes_.size(); }

int TiffFile::map(thandle_t file, void** base, toff_t* size) {
  const auto& self = *static_cast<TiffFile*>(file);
  *base = const_cast<std::uint8_t*>(self.bytes_.data());  // libtiff only reads a file that was opened for reading
  *size = self.bytes_.size();
  return 1;
}

}  // namespace feedring
