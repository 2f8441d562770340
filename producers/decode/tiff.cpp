// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/tiff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "producers/decode/arena.hpp"
#include "producers/decode/pixels.hpp"
#include "producers/decode/tiff_file.hpp"
#include "producers/decode/tiff_rows.hpp"

namespace feedring {
namespace {

struct Picture {
  Size size;
  std::uint16_t compression = COMPRESSION_NONE;
  std::uint16_t photometric = PHOTOMETRIC_MINISWHITE;  // what a file without one means, as in Pillow
  std::uint16_t planes = PLANARCONFIG_CONTIG;
  std::uint16_t samples_per_pixel = 1;
  TiffSamples samples;
  bool by_libtiff = false;  // libtiff makes RGBA of it: YCbCr other than JPEG's
  bool tiled = false;
  std::uint32_t block_width = 0;  // of a strip or tile
  std::uint32_t block_height = 0;
};

Fault read_size(TIFF* tiff, Size& size) {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  if (width == 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) {
    return fmt::format("{} x {} pixels are none", width, height);
  }
  size = {static_cast<std::int32_t>(width), static_cast<std::int32_t>(height)};
  return std::nullopt;
}

Fault not_supported(const Picture& picture) {
  return fmt::format("a TIFF of photometric interpretation {} with {} sample(s) of {} bits is not supported",
                     picture.photometric, picture.samples_per_pixel, picture.samples.bits);
}

Fault read_colour(TIFF* tiff, Picture& picture) {
  TiffSamples& samples = picture.samples;
  const std::uint32_t bits = samples.bits;
  std::uint16_t colours = 1;
  bool depth_fits = bits == 8;
  switch (picture.photometric) {
    case PHOTOMETRIC_MINISWHITE: samples.white_is_zero = true; [[fallthrough]];
    case PHOTOMETRIC_MINISBLACK:
      depth_fits = bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 12 || bits == 16;
      break;
    case PHOTOMETRIC_PALETTE: {
      samples.colour = TiffSamples::Colour::kPalette;
      depth_fits = bits == 1 || bits == 2 || bits == 4 || bits == 8;
      std::uint16_t* entries[3] = {nullptr, nullptr, nullptr};
      if (TIFFGetField(tiff, TIFFTAG_COLORMAP, &entries[0], &entries[1], &entries[2]) == 0)
        return "a TIFF without its palette";
      std::copy_n(entries, 3, samples.palette);
      break;
    }
    case PHOTOMETRIC_RGB:
      samples.colour = TiffSamples::Colour::kRgb;
      colours = 3;
      depth_fits = bits == 8 || bits == 16;
      break;
    case PHOTOMETRIC_SEPARATED:
      samples.colour = TiffSamples::Colour::kCmyk;
      colours = 4;
      depth_fits = bits == 8 || bits == 16;
      break;
    case PHOTOMETRIC_YCBCR:
      samples.colour = TiffSamples::Colour::kRgb;
      colours = 3;
      if (picture.compression == COMPRESSION_JPEG && picture.planes == PLANARCONFIG_CONTIG) {
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // changes the size of strips, so before those
      } else {
        picture.by_libtiff = true;
      }
      break;
    default: return not_supported(picture);
  }
  if (!depth_fits || picture.samples_per_pixel < colours) return not_supported(picture);
  const bool alone = bits != 8 && bits != 16;  // such samples are read where nothing stands beside them
  if (alone && picture.samples_per_pixel != 1) return not_supported(picture);

  std::uint16_t extra_count = 0;
  const std::uint16_t* extra = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &extra_count, &extra) != 0 && extra_count > 0 &&
      picture.samples_per_pixel > colours && samples.colour != TiffSamples::Colour::kCmyk) {
    if (extra[0] == EXTRASAMPLE_ASSOCALPHA) samples.alpha = TiffSamples::Alpha::kMultiplied;
    if (extra[0] == EXTRASAMPLE_UNASSALPHA) samples.alpha = TiffSamples::Alpha::kPlain;
  }
  return std::nullopt;
}

/// Those whose decoders take memory by the size of the picture. libtiff may have others: JBIG, for one, believes the
/// size in its own data, and ends the process where that cannot be had.
bool is_supported(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
    case COMPRESSION_CCITTRLE:
    case COMPRESSION_CCITTRLEW:
    case COMPRESSION_CCITTFAX3:
    case COMPRESSION_CCITTFAX4:
    case COMPRESSION_LZW:
    case COMPRESSION_OJPEG:
    case COMPRESSION_JPEG:
    case COMPRESSION_PACKBITS:
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_ZSTD:
    case COMPRESSION_WEBP: return true;
    default: return false;
  }
}

Fault read_picture(TIFF* tiff, Picture& picture) {
  if (Fault fault = read_size(tiff, picture.size)) return fault;
  std::uint16_t bits = 1;
  std::uint16_t format = SAMPLEFORMAT_UINT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &picture.samples_per_pixel);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &picture.planes);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &picture.compression);
  if (!is_supported(picture.compression))
    return fmt::format("a TIFF of compression {} is not supported", picture.compression);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &picture.photometric);
  if (picture.compression == COMPRESSION_OJPEG) picture.photometric = PHOTOMETRIC_YCBCR;
  picture.samples.bits = bits;
  // Signed bytes are taken for unsigned ones, as in Pillow.
  const bool bytes = format == SAMPLEFORMAT_INT && bits == 8;
  if (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID && !bytes) {
    return fmt::format("a TIFF of sample format {} in {} bits is not supported", format, bits);
  }
  if (Fault fault = read_colour(tiff, picture)) return fault;
  picture.tiled = TIFFIsTiled(tiff) != 0;
  if (picture.tiled) {
    TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &picture.block_width);
    TIFFGetField(tiff, TIFFTAG_TILELENGTH, &picture.block_height);
  } else {
    picture.block_width = static_cast<std::uint32_t>(picture.size.width);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &picture.block_height);
  }
  if (picture.block_width == 0 || picture.block_height == 0) return "a TIFF whose strips or tiles have no size";
  if (!picture.tiled) {
    picture.block_height = std::min(picture.block_height, static_cast<std::uint32_t>(picture.size.height));
  }
  return std::nullopt;
}

/// Reads one block of the picture, of one plane: the strip or tile that holds the pixel (x, y).
bool read_block(TIFF* tiff, const Picture& picture, std::uint32_t x, std::uint32_t y, std::uint16_t plane,
                std::uint8_t* to, tmsize_t bytes) {
  const bool apart = picture.planes == PLANARCONFIG_SEPARATE;
  if (picture.tiled) {
    return TIFFReadEncodedTile(tiff, TIFFComputeTile(tiff, x, y, 0, apart ? plane : 0), to, bytes) >= 0;
  }
  return TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, y, apart ? plane : 0), to, bytes) >= 0;
}

/// The blocks that the box touches, each to its place in the result.
Fault put_blocks(TiffFile& file, const Picture& picture, Box box, const DecodeOptions& options, Arena& arena,
                 std::uint8_t* rgb, std::size_t stride) {
  TIFF* tiff = file.get();
  const tmsize_t block_bytes = picture.tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff);
  const tmsize_t row_bytes = picture.tiled ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff);
  if (block_bytes <= 0 || row_bytes <= 0) return file.says();
  const bool apart = picture.planes == PLANARCONFIG_SEPARATE;
  const std::size_t sample_bytes = picture.samples.bits == 16 ? 2 : 1;
  const std::size_t step = sample_bytes * (apart ? 1 : picture.samples_per_pixel);
  // libtiff's sizes and the tags that rows are read by are two views of one thing; a row is never read past its end.
  const std::size_t row_bits = picture.samples.bits < 8 || picture.samples.bits == 12 ? picture.samples.bits : 8 * step;
  if (static_cast<std::size_t>(row_bytes) < (row_bits * picture.block_width + 7) / 8 ||
      block_bytes < row_bytes * static_cast<tmsize_t>(picture.block_height)) {
    return not_supported(picture);
  }
  const std::size_t used = picture.samples.used();
  std::uint8_t* planes[5] = {};
  for (std::size_t i = 0; i < (apart ? used : 1); ++i) {
    planes[i] = static_cast<std::uint8_t*>(arena.take(static_cast<std::size_t>(block_bytes)));
    if (planes[i] == nullptr) return no_memory({box.width, box.height});
  }
  const auto left = static_cast<std::uint32_t>(box.x);
  const auto top = static_cast<std::uint32_t>(box.y);
  const std::uint32_t right = left + static_cast<std::uint32_t>(box.width);
  const std::uint32_t bottom = top + static_cast<std::uint32_t>(box.height);
  const std::uint32_t first_column = left / picture.block_width * picture.block_width;
  for (std::uint32_t y = top / picture.block_height * picture.block_height; y < bottom; y += picture.block_height) {
    for (std::uint32_t x = first_column; x < right; x += picture.block_width) {
      for (std::size_t i = 0; i < (apart ? used : 1); ++i) {
        std::memset(planes[i], 0, static_cast<std::size_t>(block_bytes));
        const bool fine = read_block(tiff, picture, x, y, static_cast<std::uint16_t>(i), planes[i], block_bytes);
        if ((!fine || file.is_damaged()) && !options.accept_damaged) return file.says();
      }
      const std::uint32_t from = std::max(left, x);
      const std::uint32_t count = std::min(right, x + picture.block_width) - from;
      for (std::uint32_t row = std::max(top, y); row < std::min(bottom, y + picture.block_height); ++row) {
        TiffRow place{{}, step};
        for (std::size_t c = 0; c < used; ++c) {
          place.channel[c] =
              planes[apart ? c : 0] + static_cast<std::size_t>(row_bytes) * (row - y) + (apart ? 0 : c * sample_bytes);
        }
        tiff_row_to_rgb(picture.samples, place, from - x, count, options.background,
                        rgb + stride * (row - top) + std::size_t{3} * (from - left));
      }
    }
  }
  return std::nullopt;
}

struct EndRgba {
  void operator()(TIFFRGBAImage* image) const noexcept { TIFFRGBAImageEnd(image); }
};

/// What libtiff itself turns into RGBA, whole rows at a time, from the top of a strip or tile on.
Fault put_libtiffs(TiffFile& file, const Picture& picture, Box box, const DecodeOptions& options, Arena& arena,
                   std::uint8_t* rgb, std::size_t stride) {
  TIFFRGBAImage image;
  char text[1024] = "";
  const int stop_on_error = options.accept_damaged ? 0 : 1;
  if (TIFFRGBAImageBegin(&image, file.get(), stop_on_error, text) == 0) {
    return fmt::format("libtiff: {}", text[0] != 0 ? text : "this kind of YCbCr is not supported");
  }
  const std::unique_ptr<TIFFRGBAImage, EndRgba> end(&image);
  image.req_orientation = image.orientation;  // as it is stored; who calls turns it
  const auto width = static_cast<std::uint32_t>(picture.size.width);
  const auto rows = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(picture.block_height, static_cast<std::uint32_t>(picture.size.height)));
  // libtiff takes a whole block for itself, whose size may have nothing to do with the picture's.
  const std::uint64_t block_bytes = picture.tiled ? TIFFTileSize64(file.get()) : TIFFStripSize64(file.get());
  if (block_bytes > arena.limit()) return no_memory({box.width, box.height});
  auto* pixels = static_cast<std::uint32_t*>(arena.take(std::size_t{4} * width * rows));
  if (pixels == nullptr) return no_memory({box.width, box.height});
  const auto top = static_cast<std::uint32_t>(box.y);
  const std::uint32_t bottom = top + static_cast<std::uint32_t>(box.height);
  for (std::uint32_t y = top / rows * rows; y < bottom; y += rows) {
    const std::uint32_t height = std::min(rows, static_cast<std::uint32_t>(picture.size.height) - y);
    std::memset(pixels, 0, std::size_t{4} * width * rows);
    image.row_offset = static_cast<int>(y);
    const bool fine = TIFFRGBAImageGet(&image, pixels, width, height) != 0;
    if ((!fine || file.is_damaged()) && !options.accept_damaged) return file.says();
    for (std::uint32_t row = std::max(top, y); row < std::min(bottom, y + height); ++row) {
      const std::uint32_t* in = pixels + std::size_t{width} * (row - y) + static_cast<std::uint32_t>(box.x);
      std::uint8_t* out = rgb + stride * (row - top);
      for (std::int32_t x = 0; x < box.width; ++x, out += 3) {
        out[0] = static_cast<std::uint8_t>(TIFFGetR(in[x]));
        out[1] = static_cast<std::uint8_t>(TIFFGetG(in[x]));
        out[2] = static_cast<std::uint8_t>(TIFFGetB(in[x]));
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Fault tiff_header(std::span<const std::uint8_t> bytes, Size& size, std::uint8_t& orientation) {
  TiffFile file;
  if (Fault fault = file.open(bytes)) return fault;
  std::uint16_t stated = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(file.get(), TIFFTAG_ORIENTATION, &stated);
  orientation = stated >= 1 && stated <= 8 ? static_cast<std::uint8_t>(stated) : 1;
  Picture picture;
  if (Fault fault = read_picture(file.get(), picture)) return fault;
  size = picture.size;
  return std::nullopt;
}

Fault tiff_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                  RgbView& out) {
  TiffFile file;
  if (Fault fault = file.open(bytes)) return fault;
  Picture picture;
  if (Fault fault = read_picture(file.get(), picture)) return fault;
  if (picture.size != size) return "the file changed while it was read";
  const std::size_t stride = std::size_t{3} * box.width;
  auto* rgb = take_rgb(arena, {box.width, box.height});
  if (rgb == nullptr) return no_memory({box.width, box.height});
  file.pixels_begin();
  const auto put = picture.by_libtiff ? put_libtiffs : put_blocks;
  if (Fault fault = put(file, picture, box, options, arena, rgb, stride)) return fault;
  out = {rgb, {box.width, box.height}, stride};
  return std::nullopt;
}

}  // namespace feedring
