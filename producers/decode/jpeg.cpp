// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/jpeg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <jerror.h>

#include "feedring/error.hpp"
#include "producers/decode/arena.hpp"
#include "producers/decode/blend.hpp"
#include "producers/decode/jpeg_end.hpp"
#include "producers/decode/jpeg_plan.hpp"
#include "producers/decode/pixels.hpp"

namespace feedring {
namespace {

using State = JpegDecoder::State;

// More scans than any encoder writes; each costs a pass over the whole image, so a small file could otherwise keep a
// producer busy for minutes.
constexpr int kMaxScans = 500;

State& state_of(j_common_ptr cinfo) { return *static_cast<State*>(cinfo->client_data); }

[[noreturn]] void leave(j_common_ptr cinfo) {
  State& state = state_of(cinfo);
  cinfo->err->format_message(cinfo, state.text);
  std::longjmp(state.jump, 1);
}

// Remarks on the file that leave no doubt about a pixel. Pillow takes such files, and ImageNet holds some.
bool is_harmless(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
         code == JWRN_BOGUS_PROGRESSION;
}

void on_message(j_common_ptr cinfo, int level) {
  if (level >= 0 || is_harmless(cinfo->err->msg_code)) return;  // level -1: the data are corrupt
  if (!state_of(cinfo).accept_damaged) leave(cinfo);
}

void no_output(j_common_ptr) {}

void on_progress(j_common_ptr cinfo) {
  State& state = state_of(cinfo);
  if (state.cinfo.input_scan_number <= kMaxScans) return;
  std::snprintf(state.text, sizeof state.text, "more than %d scans", kMaxScans);
  std::longjmp(state.jump, 1);
}

// ---- Steps that libjpeg may leave by longjmp. Each is a function of its own, whose frame and whose callees' frames
// ---- hold plain data only; false means that state.text says why.

bool create(State& state) {
  if (setjmp(state.jump) != 0) return false;
  jpeg_create_decompress(&state.cinfo);
  return true;
}

bool read_header(State& state, const std::uint8_t* bytes, std::size_t size) {
  if (setjmp(state.jump) != 0) return false;
  jpeg_mem_src(&state.cinfo, bytes, size);
  jpeg_read_header(&state.cinfo, TRUE);
  return true;
}

bool start(State& state) {
  if (setjmp(state.jump) != 0) return false;
  jpeg_start_decompress(&state.cinfo);
  return true;
}

/// Narrows the output to the plan's columns and leaves out the rows above it.
bool enter(State& state, JpegPlan& plan) {
  if (setjmp(state.jump) != 0) return false;
  if (plan.crops) jpeg_crop_scanline(&state.cinfo, &plan.left, &plan.width);
  if (plan.skip == 0 || jpeg_skip_scanlines(&state.cinfo, plan.skip) == plan.skip) return true;
  std::snprintf(state.text, sizeof state.text, "fewer rows than the header says");
  return false;
}

/// `count` rows into one and the same row (stride 0) or one after the other.
bool read_rows(State& state, std::uint8_t* to, std::size_t stride, JDIMENSION count) {
  if (setjmp(state.jump) != 0) return false;
  constexpr JDIMENSION kAtOnce = 16;
  JSAMPROW rows[kAtOnce];
  for (JDIMENSION done = 0; done < count;) {
    const JDIMENSION n = std::min(kAtOnce, count - done);
    for (JDIMENSION i = 0; i < n; ++i) rows[i] = to + stride * (done + i);
    const JDIMENSION got = jpeg_read_scanlines(&state.cinfo, rows, n);
    if (got == 0) {
      std::snprintf(state.text, sizeof state.text, "fewer rows than the header says");
      return false;
    }
    done += got;
  }
  return true;
}

Fault libjpeg_says(const State& state) { return fmt::format("libjpeg: {}", state.text); }

bool is_cmyk(const jpeg_decompress_struct& cinfo) { return cinfo.out_color_space == JCS_CMYK; }

/// One row of inverted CMYK, as Adobe writes it and as Pillow takes every four-component JPEG.
void cmyk_row_to_rgb(const std::uint8_t* in, std::uint8_t* out, std::int32_t pixels) {
  for (std::int32_t i = 0; i < pixels; ++i, in += 4, out += 3) {
    const std::uint8_t ink[4] = {static_cast<std::uint8_t>(255 - in[0]), static_cast<std::uint8_t>(255 - in[1]),
                                 static_cast<std::uint8_t>(255 - in[2]), static_cast<std::uint8_t>(255 - in[3])};
    put_cmyk(ink, out);
  }
}

}  // namespace

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.cinfo.err = jpeg_std_error(&state.errors);
  state.errors.error_exit = leave;
  state.errors.emit_message = on_message;
  state.errors.output_message = no_output;
  state.cinfo.client_data = &state;
  if (!create(state)) throw Error(ErrorKind::kInternal, fmt::format("libjpeg did not start: {}", state.text));
  state.own_memory = state.cinfo.mem;
  state.progress.progress_monitor = on_progress;
  state.cinfo.progress = &state.progress;
}

JpegDecoder::~JpegDecoder() {
  state_->cinfo.mem = state_->own_memory;
  jpeg_destroy_decompress(&state_->cinfo);
}

Fault JpegDecoder::open(std::span<const std::uint8_t> bytes, Arena& arena, bool accept_damaged) {
  State& state = *state_;
  state.accept_damaged = accept_damaged;
  jpeg_abort_decompress(&state.cinfo);
  use_arena(&state.cinfo, state.memory, arena);
  // Tables live on from file to file in libjpeg (for "abbreviated" streams). Here a file without tables must not be
  // decoded with those of its predecessor; and their memory is gone with the last image.
  jpeg_decompress_struct& cinfo = state.cinfo;
  std::fill(std::begin(cinfo.quant_tbl_ptrs), std::end(cinfo.quant_tbl_ptrs), nullptr);
  std::fill(std::begin(cinfo.dc_huff_tbl_ptrs), std::end(cinfo.dc_huff_tbl_ptrs), nullptr);
  std::fill(std::begin(cinfo.ac_huff_tbl_ptrs), std::end(cinfo.ac_huff_tbl_ptrs), nullptr);
  cinfo.src = nullptr;
  if (!read_header(state, bytes.data(), bytes.size())) return libjpeg_says(state);
  switch (cinfo.jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
    case JCS_RGB: cinfo.out_color_space = JCS_RGB; break;
    case JCS_CMYK:
    case JCS_YCCK: cinfo.out_color_space = JCS_CMYK; break;
    default: return fmt::format("a JPEG of {} components is not supported", cinfo.num_components);
  }
  return std::nullopt;
}

Fault JpegDecoder::header(std::span<const std::uint8_t> bytes, Arena& arena, Size& size, bool accept_damaged) {
  if (Fault fault = open(bytes, arena, accept_damaged)) return fault;
  size = {static_cast<std::int32_t>(state_->cinfo.image_width), static_cast<std::int32_t>(state_->cinfo.image_height)};
  return std::nullopt;
}

Fault JpegDecoder::pixels(std::span<const std::uint8_t> bytes, Size size, Box box, bool accept_damaged, Arena& arena,
                          RgbView& out) {
  Size stated;
  if (Fault fault = header(bytes, arena, stated, accept_damaged)) return fault;
  if (stated != size) return "the file changed while it was read";
  State& state = *state_;
  jpeg_decompress_struct& cinfo = state.cinfo;
  if (!accept_damaged && !has_end_marker({cinfo.src->next_input_byte, cinfo.src->bytes_in_buffer})) {
    return "truncated JPEG: no end-of-image marker after the header";
  }
  if (!start(state)) return libjpeg_says(state);
  JpegPlan plan = plan_jpeg(cinfo, box);
  if (!enter(state, plan)) return libjpeg_says(state);

  const std::size_t channels = is_cmyk(cinfo) ? 4 : 3;
  const std::size_t file_stride = std::size_t{plan.width} * channels;
  const std::size_t stride = is_cmyk(cinfo) ? std::size_t{3} * box.width : file_stride;
  auto* rgb = static_cast<std::uint8_t*>(arena.take(std::max(stride * box.height, file_stride) + kSlack));
  auto* line = is_cmyk(cinfo) ? static_cast<std::uint8_t*>(arena.take(file_stride)) : rgb;
  if (rgb == nullptr || line == nullptr) return no_memory({box.width, box.height});

  if (!read_rows(state, line, 0, plan.lead)) return libjpeg_says(state);
  const std::size_t inset = (static_cast<std::size_t>(box.x) - plan.left) * channels;
  const auto rows = static_cast<JDIMENSION>(box.height);
  if (!is_cmyk(cinfo)) {
    if (!read_rows(state, rgb, stride, rows)) return libjpeg_says(state);
    out = {rgb + inset, {box.width, box.height}, stride};
    return std::nullopt;
  }
  for (JDIMENSION row = 0; row < rows; ++row) {
    if (!read_rows(state, line, 0, 1)) return libjpeg_says(state);
    cmyk_row_to_rgb(line + inset, rgb + stride * row, box.width);
  }
  out = {rgb, {box.width, box.height}, stride};
  return std::nullopt;
}

}  // namespace feedring
