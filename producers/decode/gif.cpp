// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/gif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include <gif_lib.h>

#include "producers/decode/arena.hpp"
#include "producers/decode/blend.hpp"
#include "producers/decode/palette.hpp"
#include "producers/decode/pixels.hpp"

namespace feedring {
namespace {

using Bytes = std::span<const std::uint8_t>;

struct CloseFile {
  void operator()(GifFileType* file) const noexcept { DGifCloseFile(file, nullptr); }
};
using File = std::unique_ptr<GifFileType, CloseFile>;

int read_bytes(GifFileType* file, GifByteType* to, int count) {
  Bytes& left = *static_cast<Bytes*>(file->UserData);
  const std::size_t got = std::min(left.size(), static_cast<std::size_t>(std::max(count, 0)));
  std::memcpy(to, left.data(), got);
  left = left.subspan(got);
  return static_cast<int>(got);
}

Fault giflib_says(int code, Bytes left) {
  if (left.empty()) return "truncated GIF: the file ends before its first picture does";
  const char* text = code == D_GIF_ERR_READ_FAILED ? nullptr : GifErrorString(code);
  return fmt::format("giflib: {}", text != nullptr ? text : "the file is damaged");
}

Bytes left_of(const GifFileType& file) { return *static_cast<const Bytes*>(file.UserData); }

/// Reads one extension; notes the transparent colour that a graphic control extension names.
Fault read_extension(GifFileType& file, std::optional<std::uint8_t>& transparent) {
  int code = 0;
  GifByteType* block = nullptr;
  if (DGifGetExtension(&file, &code, &block) == GIF_ERROR) return giflib_says(file.Error, left_of(file));
  while (block != nullptr) {
    // Its first byte is its length.
    if (code == GRAPHICS_EXT_FUNC_CODE && block[0] >= 4 && (block[1] & 1) != 0) transparent = block[4];
    code = CONTINUE_EXT_FUNC_CODE;
    if (DGifGetExtensionNext(&file, &block) == GIF_ERROR) return giflib_says(file.Error, left_of(file));
  }
  return std::nullopt;
}

/// Reads up to the pixels of the first picture. `bytes` has to stay where it is.
Fault open(Bytes& bytes, File& file, std::optional<std::uint8_t>& transparent, Size& size) {
  int code = D_GIF_ERR_NOT_ENOUGH_MEM;
  file.reset(DGifOpen(&bytes, read_bytes, &code));
  if (!file) return giflib_says(code, bytes);
  for (;;) {
    GifRecordType type = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(file.get(), &type) == GIF_ERROR) return giflib_says(file->Error, left_of(*file));
    if (type == TERMINATE_RECORD_TYPE) return "there is no picture in the GIF";
    if (type == IMAGE_DESC_RECORD_TYPE) break;
    if (type != EXTENSION_RECORD_TYPE) continue;
    if (Fault fault = read_extension(*file, transparent)) return fault;
  }
  if (DGifGetImageDesc(file.get()) == GIF_ERROR) return giflib_says(file->Error, left_of(*file));
  size = {std::max(file->SWidth, file->Image.Left + file->Image.Width),
          std::max(file->SHeight, file->Image.Top + file->Image.Height)};
  if (size.width <= 0 || size.height <= 0) return fmt::format("{} x {} pixels are none", size.width, size.height);
  return std::nullopt;
}

/// As in Pillow, an index beyond the file's palette is black; but without a palette, and where it is the first grays in
/// their order, every index is a gray.
Palette palette_of(const GifFileType& file) {
  const ColorMapObject* map = file.Image.ColorMap != nullptr ? file.Image.ColorMap : file.SColorMap;
  Palette palette;
  bool is_grays = true;
  for (std::size_t i = 0; map != nullptr && i < static_cast<std::size_t>(map->ColorCount); ++i) {
    const auto gray = static_cast<std::uint8_t>(i);
    palette[i] = {map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue};
    is_grays = is_grays && palette[i] == Rgb{gray, gray, gray};
  }
  if (is_grays) palette = gray_ramp();
  return palette;
}

/// The row of the picture that comes as its `nth` (GIF89a specification, appendix E: interlaced images).
int row_of(int nth, int height, bool interlaced) {
  if (!interlaced) return nth;
  constexpr std::pair<int, int> kPasses[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (const auto& [first, step] : kPasses) {
    const int rows = height > first ? (height - first + step - 1) / step : 0;
    if (nth < rows) return first + nth * step;
    nth -= rows;
  }
  return height - 1;
}

}  // namespace

Fault gif_header(Bytes bytes, Size& size) {
  File file;
  std::optional<std::uint8_t> transparent;
  return open(bytes, file, transparent, size);
}

Fault gif_pixels(Bytes bytes, Size size, Box box, const DecodeOptions& options, Arena& arena, RgbView& out) {
  File file;
  std::optional<std::uint8_t> transparent;
  Size stated;
  if (Fault fault = open(bytes, file, transparent, stated)) return fault;
  if (stated != size) return "the file changed while it was read";
  const GifImageDesc& picture = file->Image;

  std::array<std::array<std::uint8_t, 3>, 256> colours;
  const Palette palette = palette_of(*file);
  for (std::size_t i = 0; i < palette.size(); ++i) {
    put_rgba(palette[i], transparent == i ? 0 : 255, options.background, colours[i].data());
  }
  const std::size_t stride = std::size_t{3} * box.width;
  auto* rgb = take_rgb(arena, {box.width, box.height});
  auto* line = static_cast<std::uint8_t*>(arena.take(static_cast<std::size_t>(std::max(picture.Width, 1))));
  if (rgb == nullptr || line == nullptr) return no_memory({box.width, box.height});
  const auto pixels = static_cast<std::size_t>(box.width) * static_cast<std::size_t>(box.height);
  for (std::size_t i = 0; i < pixels; ++i) std::memcpy(rgb + 3 * i, colours[transparent.value_or(0)].data(), 3);

  const int left = std::max(box.x, picture.Left);
  const int right = std::min(box.x + box.width, picture.Left + picture.Width);
  for (int nth = 0; nth < picture.Height; ++nth) {
    if (DGifGetLine(file.get(), line, picture.Width) == GIF_ERROR) {
      if (options.accept_damaged) break;
      return giflib_says(file->Error, left_of(*file));
    }
    const int y = picture.Top + row_of(nth, picture.Height, picture.Interlace);
    if (y < box.y || y >= box.y + box.height) continue;
    std::uint8_t* row = rgb + stride * static_cast<std::size_t>(y - box.y);
    for (int x = left; x < right; ++x) {
      std::memcpy(row + std::size_t{3} * (x - box.x), colours[line[x - picture.Left]].data(), 3);
    }
  }
  out = {rgb, {box.width, box.height}, stride};
  return std::nullopt;
}

}  // namespace feedring
