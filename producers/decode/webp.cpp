// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/webp.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include <webp/decode.h>
#include <webp/demux.h>

#include "producers/decode/arena.hpp"
#include "producers/decode/blend.hpp"
#include "producers/decode/pixels.hpp"

namespace feedring {
namespace {

struct FreeDemuxer {
  void operator()(WebPDemuxer* demuxer) const noexcept { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, FreeDemuxer>;

Fault open(std::span<const std::uint8_t> bytes, Demuxer& demuxer, Size& size) {
  const WebPData data{bytes.data(), bytes.size()};
  WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
  demuxer.reset(WebPDemuxPartial(&data, &state));
  if (state == WEBP_DEMUX_PARSE_ERROR || !demuxer) return "libwebp: the container is damaged";
  if (state != WEBP_DEMUX_DONE) return "truncated WebP: the file ends before its container does";
  size = {static_cast<std::int32_t>(WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH)),
          static_cast<std::int32_t>(WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT))};
  if (size.width <= 0 || size.height <= 0) return "libwebp: the canvas is empty";
  return std::nullopt;
}

const char* name_of_status(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY: return "no memory";
    case VP8_STATUS_UNSUPPORTED_FEATURE: return "an unsupported feature";
    case VP8_STATUS_NOT_ENOUGH_DATA: return "the picture's data end early";
    default: return "the picture's data are damaged";
  }
}

}  // namespace

Fault webp_header(std::span<const std::uint8_t> bytes, Size& size) {
  Demuxer demuxer;
  return open(bytes, demuxer, size);
}

Fault webp_pixels(std::span<const std::uint8_t> bytes, Size size, Box box, const DecodeOptions& options, Arena& arena,
                  RgbView& out) {
  Demuxer demuxer;
  Size stated;
  if (Fault fault = open(bytes, demuxer, stated)) return fault;
  if (stated != size) return "the file changed while it was read";
  WebPIterator frame;
  if (WebPDemuxGetFrame(demuxer.get(), 1, &frame) == 0) return "libwebp: there is no picture in the container";

  const bool blends = options.background.has_value() && frame.has_alpha != 0;
  const std::size_t channels = blends ? 4 : 3;
  const std::size_t stride = channels * static_cast<std::size_t>(size.width);
  const std::size_t canvas_bytes = stride * static_cast<std::size_t>(size.height);
  auto* canvas = static_cast<std::uint8_t*>(arena.take(canvas_bytes + kSlack));
  VP8StatusCode status = VP8_STATUS_OUT_OF_MEMORY;
  WebPDecoderConfig config;
  if (canvas != nullptr && WebPInitDecoderConfig(&config) != 0) {
    if (frame.width != size.width || frame.height != size.height) std::memset(canvas, 0, canvas_bytes);
    const std::size_t front = stride * static_cast<std::size_t>(frame.y_offset) + channels * frame.x_offset;
    config.output.colorspace = blends ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {canvas + front, static_cast<int>(stride), canvas_bytes - front};
    status = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
  }
  WebPDemuxReleaseIterator(&frame);
  if (status != VP8_STATUS_OK) return fmt::format("libwebp: {}", name_of_status(status));

  const std::uint8_t* first = canvas + stride * static_cast<std::size_t>(box.y) + channels * box.x;
  if (!blends) {
    out = {first, {box.width, box.height}, stride};
    return std::nullopt;
  }
  const std::size_t out_stride = std::size_t{3} * box.width;
  auto* rgb = take_rgb(arena, {box.width, box.height});
  if (rgb == nullptr) return no_memory({box.width, box.height});
  for (std::int32_t y = 0; y < box.height; ++y) {
    const std::uint8_t* in = first + stride * y;
    std::uint8_t* row = rgb + out_stride * y;
    for (std::int32_t x = 0; x < box.width; ++x, in += 4, row += 3) {
      put_rgba({in[0], in[1], in[2]}, in[3], options.background, row);
    }
  }
  out = {rgb, {box.width, box.height}, out_stride};
  return std::nullopt;
}

}  // namespace feedring
