// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/png.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <spng.h>

#include "producers/decode/arena.hpp"
#include "producers/decode/pixels.hpp"
#include "producers/decode/png_rows.hpp"

namespace feedring {
namespace {

// Texts and profiles may unpack to this much in all; Pillow's limit for texts (MAX_TEXT_MEMORY) is the same.
constexpr std::size_t kMaxChunkMemory = std::size_t{64} << 20;

// libspng's allocator carries no pointer of ours, so the arena of the present call is found by thread. Its memory is
// never given back one by one (see arena.hpp); a size in front of each piece lets realloc copy.
thread_local Arena* arena_of_call = nullptr;
constexpr std::size_t kFront = Arena::kAlignment;

void* spng_malloc(std::size_t bytes) {
  if (bytes > arena_of_call->limit()) return nullptr;
  auto* front = static_cast<std::uint8_t*>(arena_of_call->take(bytes + kFront));
  if (front == nullptr) return nullptr;
  std::memcpy(front, &bytes, sizeof bytes);
  return front + kFront;
}

void* spng_calloc(std::size_t count, std::size_t bytes) {
  std::size_t product = 0;
  if (__builtin_mul_overflow(count, bytes, &product)) return nullptr;
  void* taken = spng_malloc(product);
  return taken == nullptr ? nullptr : std::memset(taken, 0, product);
}

void* spng_realloc(void* old, std::size_t bytes) {
  void* taken = spng_malloc(bytes);
  if (taken == nullptr || old == nullptr) return taken;
  std::size_t old_bytes = 0;
  std::memcpy(&old_bytes, static_cast<std::uint8_t*>(old) - kFront, sizeof old_bytes);
  return std::memcpy(taken, old, std::min(old_bytes, bytes));
}

void spng_nothing(void*) {}

struct FreeContext {
  void operator()(spng_ctx* context) const noexcept { spng_ctx_free(context); }
};
using Context = std::unique_ptr<spng_ctx, FreeContext>;

Fault libspng_says(int code) {
  if (code == SPNG_IO_EOF) return "truncated PNG: the file ends before its last chunk does";
  return fmt::format("libspng: {}", spng_strerror(code));
}

/// Of a buffer that ends within a chunk libspng gives nothing of that chunk. So behind the end come zeros: they are no
/// valid chunk, and no valid end of compressed data, so that decoding stops soon, with the rows before the end.
int read_or_zero(spng_ctx*, void* left, void* to, std::size_t count) {
  auto& bytes = *static_cast<std::span<const std::uint8_t>*>(left);
  const std::size_t got = std::min(count, bytes.size());
  if (got > 0) std::memcpy(to, bytes.data(), got);
  std::memset(static_cast<std::uint8_t*>(to) + got, 0, count - got);
  bytes = bytes.subspan(got);
  return 0;
}

/// A context that has read the header.
/// `lenient` is for files that may be damaged: checksums are not compared, and what is left of the file is read from
/// there, which stays where it is.
Fault open(std::span<const std::uint8_t> bytes, Arena& arena, Context& context, spng_ihdr& header,
           std::span<const std::uint8_t>* lenient = nullptr) {
  arena_of_call = &arena;
  spng_alloc allocator{spng_malloc, spng_realloc, spng_calloc, spng_nothing};
  context.reset(spng_ctx_new2(&allocator, 0));
  if (!context) return "no memory for a PNG decoder";
  int code = spng_set_chunk_limits(context.get(), kMaxChunkMemory, kMaxChunkMemory);
  if (code == 0 && lenient != nullptr) {
    code = spng_set_crc_action(context.get(), SPNG_CRC_USE, SPNG_CRC_USE);
    if (code == 0) code = spng_set_png_stream(context.get(), read_or_zero, lenient);
  } else if (code == 0) {
    code = spng_set_png_buffer(context.get(), bytes.data(), bytes.size());
  }
  if (code == 0) code = spng_get_ihdr(context.get(), &header);
  if (code != 0) return libspng_says(code);
  return std::nullopt;
}

/// Palette and transparency.
Fault read_colours(spng_ctx* context, const std::optional<Rgb>& background, bool indices, PngColours& colours) {
  colours.background = background;
  spng_trns transparent{};
  if (background) {
    const int code = spng_get_trns(context, &transparent);
    if (code == SPNG_ECHUNKAVAIL)
      transparent = {};
    else if (code != 0)
      return libspng_says(code);
    colours.has_key = code == 0;
  }
  switch (colours.header.color_type) {
    case SPNG_COLOR_TYPE_INDEXED: {
      spng_plte entries{};
      if (const int code = spng_get_plte(context, &entries)) return libspng_says(code);
      colours.palette = make_palette(entries, transparent, background);
      for (std::size_t i = 0; indices && i < std::size(colours.palette.rgb); ++i)
        std::memset(colours.palette.rgb[i], static_cast<int>(i), sizeof colours.palette.rgb[i]);
      break;
    }
    case SPNG_COLOR_TYPE_GRAYSCALE: colours.key[0] = transparent.gray; break;
    case SPNG_COLOR_TYPE_TRUECOLOR:
      colours.key[0] = transparent.red;
      colours.key[1] = transparent.green;
      colours.key[2] = transparent.blue;
      break;
    default: break;  // alpha stands in the pixels
  }
  return std::nullopt;
}

/// Where the pixels of one pass lie in the image (PNG specification, 8 Interlacing and pass extraction). A file that is
/// not interlaced is one pass with every pixel.
struct Pass {
  std::uint32_t x;
  std::uint32_t dx;
};
constexpr Pass kAdam7[7] = {{0, 8}, {4, 8}, {0, 4}, {2, 4}, {0, 2}, {1, 2}, {0, 1}};

/// The pixels of one scanline that fall into the box, to their places.
void place(const PngColours& colours, const std::uint8_t* row, Pass pass, Box box, std::uint8_t* out_row) {
  const auto begin = static_cast<std::uint32_t>(box.x);
  const std::uint32_t end = begin + static_cast<std::uint32_t>(box.width);
  const std::uint32_t first = begin <= pass.x ? 0 : (begin - pass.x + pass.dx - 1) / pass.dx;
  const std::uint32_t past = end <= pass.x ? 0 : (end - pass.x + pass.dx - 1) / pass.dx;
  if (first >= past) return;
  const std::size_t column = pass.x + std::size_t{first} * pass.dx - begin;
  png_row_to_rgb(colours, row, first, past - first, out_row + 3 * column, std::size_t{3} * pass.dx);
}

}  // namespace

Fault png_header(std::span<const std::uint8_t> bytes, Arena& arena, Size& size) {
  Context context;
  spng_ihdr header;
  if (Fault fault = open(bytes, arena, context, header)) return fault;
  size = {static_cast<std::int32_t>(header.width),
          static_cast<std::int32_t>(header.height)};  // libspng: at most 2^31-1
  return std::nullopt;
}

Fault no_indices() { return "it is no PNG of gray or palette values of at most 8 bits"; }

Fault png_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, bool indices,
                 Arena& arena, RgbView& out) {
  Context context;
  PngColours colours{};
  spng_ihdr& header = colours.header;
  std::span<const std::uint8_t> left = bytes;
  if (Fault fault = open(bytes, arena, context, header, options.accept_damaged ? &left : nullptr)) return fault;
  if (static_cast<std::int32_t>(header.width) != size.width ||
      static_cast<std::int32_t>(header.height) != size.height) {
    return "the file changed while it was read";
  }
  const bool values = header.color_type == SPNG_COLOR_TYPE_INDEXED || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
  if (indices && (!values || header.bit_depth > 8)) return no_indices();
  // In the file's own format, so that what happens to depth, palette and alpha is written in one place: png_rows.cpp.
  int code = spng_decode_image(context.get(), nullptr, 0, SPNG_FMT_PNG, SPNG_DECODE_PROGRESSIVE);
  if (code != 0) return libspng_says(code);
  if (Fault fault = read_colours(context.get(), options.background, indices, colours)) return fault;

  const std::size_t stride = std::size_t{3} * box.width;
  const std::size_t row_bytes = png_row_bytes(header, header.width);
  auto* rgb = take_rgb(arena, {box.width, box.height});
  auto* row = static_cast<std::uint8_t*>(arena.take(row_bytes));
  if (rgb == nullptr || row == nullptr) return no_memory({box.width, box.height});
  if (options.accept_damaged) std::memset(rgb, 0, stride * box.height);

  for (code = 0; code == 0;) {
    spng_row_info info;
    code = spng_get_row_info(context.get(), &info);
    // libspng refuses a buffer shorter than its own idea of the row, so the two can never differ unnoticed.
    if (code == 0) code = spng_decode_scanline(context.get(), row, row_bytes);
    if (code != 0 && code != SPNG_EOI) break;
    const auto y = static_cast<std::int32_t>(info.row_num);
    if (y < box.y || y >= box.y + box.height) continue;
    const Pass pass = header.interlace_method == SPNG_INTERLACE_NONE ? Pass{0, 1} : kAdam7[info.pass];
    place(colours, row, pass, box, rgb + stride * (y - box.y));
  }
  if (code == SPNG_EOI) code = spng_decode_chunks(context.get());  // to the end: its checksum and whether there is one
  if (code != 0 && !options.accept_damaged) return libspng_says(code);
  out = {rgb, {box.width, box.height}, stride};
  return std::nullopt;
}

}  // namespace feedring
