// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "producers/transform/copy_kernels.hpp"

namespace feedring {
namespace {

void fill_pixels(std::uint8_t* out, std::int32_t count, const Colour& colour) noexcept {
  for (std::int32_t i = 0; i < count; ++i) {
    for (const std::uint8_t channel : colour) *out++ = channel;
  }
}

// Everything of the frame outside its visible part.
void fill_around(const Stage& stage, std::uint8_t* out, std::size_t stride) noexcept {
  const Box shown = visible_in_output(stage);
  for (std::int32_t y = 0; y < stage.frame.height; ++y, out += stride) {
    if (shown.width <= 0 || y < shown.y || y >= shown.y + shown.height) {
      fill_pixels(out, stage.frame.width, stage.fill);
    } else {
      const std::int32_t right = shown.x + shown.width;
      fill_pixels(out, shown.x, stage.fill);
      fill_pixels(out + static_cast<std::size_t>(right) * 3, stage.frame.width - right, stage.fill);
    }
  }
}

}  // namespace

void Renderer::run(const Geometry& geometry, const Stage& stage, RgbView input, std::uint8_t* out, std::size_t stride) {
  draw(geometry, stage, input, out, stride);
  for (const Operation& operation : geometry.operations(stage)) {
    painter_.run(operation, {out, {stage.frame.width, stage.frame.height}, stride});
  }
}

void Renderer::draw(const Geometry& geometry, const Stage& stage, RgbView input, std::uint8_t* out,
                    std::size_t stride) {
  const Size source{stage.source.width, stage.source.height};
  const Box have{stage.need.x - stage.source.x, stage.need.y - stage.source.y, stage.need.width, stage.need.height};
  if (stage.edge != Edge::kConstant) {
    edges_.run(input, have, {source, stage.frame, stage.edge, stage.mirrored, stage.upside_down}, out, stride);
    return;
  }
  if (stage.visible != stage.frame) fill_around(stage, out, stride);
  if (stage.visible.width <= 0) return;
  const Box shown = visible_in_output(stage);
  if (stage.warp != 0) {
    // All of the source is there, and perhaps more.
    input.data -= have.y * static_cast<std::ptrdiff_t>(input.stride) + std::ptrdiff_t{have.x} * 3;
    out += static_cast<std::size_t>(shown.y) * stride + static_cast<std::size_t>(shown.x) * 3;
    input.size = source;
    return warp(input, geometry.warp(stage), {stage.target, stage.visible, stage.mirrored, stage.upside_down}, out,
                stride);
  }
  const std::int32_t first = stage.upside_down ? shown.y + shown.height - 1 : shown.y;
  const auto step = static_cast<std::ptrdiff_t>(stride);
  resampler_.run(input, have, source, stage.target, stage.visible, stage.filter, stage.mirrored,
                 out + first * step + std::ptrdiff_t{shown.x} * 3, stage.upside_down ? -step : step);
}

void Renderer::render(RgbView pixels, const Geometry& geometry, std::uint8_t* out, std::size_t stride) {
  const std::vector<Stage>& stages = geometry.stages();
  RgbView input = pixels;
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const Size size{stages[i].frame.width, stages[i].frame.height};
    const std::size_t row = static_cast<std::size_t>(size.width) * 3;
    std::vector<std::uint8_t>& result = scratch_[i % 2];
    const std::size_t wanted = row * static_cast<std::size_t>(size.height) + kSlack;
    if (result.size() < wanted) result.resize(wanted);
    run(geometry, stages[i], input, result.data(), row);
    input = {result.data(), size, row};
  }
  run(geometry, stages.back(), input, out, stride);
}

Pipeline::Pipeline(Chain chain, Dtype dtype, Layout layout, const DecodeOptions& options)
    : chain_(std::move(chain)), finish_(chain_, dtype, layout), options_(options) {
  const Size size = chain_.output_size();
  if (!finish_.is_plain()) {
    pixels_.resize(static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3 + kSlack);
  }
}

Fault Pipeline::run(std::span<const std::uint8_t> bytes, Decoder& decoder, Draw& random, std::uint64_t max_pixels,
                    std::uint8_t* out, std::optional<ClassAugment> turned) {
  ImageInfo info;
  if (Fault fault = decoder.probe(bytes, max_pixels, info, options_)) return fault;
  const Size size = turned ? turned_size(info.size, *turned) : info.size;
  if (Fault fault = draw(size, random, max_pixels, drawn_)) return fault;
  RgbView needed;
  if (Fault fault = decode_needed(bytes, info, decoder, turned, needed)) return fault;
  make(needed, drawn_, out);
  return std::nullopt;
}

Fault Pipeline::run(RgbView picture, Draw& random, std::uint64_t max_pixels, std::uint8_t* out) {
  if (Fault fault = draw(picture.size, random, max_pixels, drawn_)) return fault;
  make(with_slack(picture, drawn_.need()), drawn_, out);
  return std::nullopt;
}

Fault Pipeline::draw(Size size, Draw& random, std::uint64_t max_pixels, Drawn& drawn) const {
  drawn.size = size;
  if (Fault fault = chain_.draw(size, random, drawn.choices)) return fault;
  drawn.geometry.start(size);
  drawn.geometry.apply(drawn.choices);
  return drawn.geometry.finish(max_pixels);
}

void Pipeline::make(RgbView needed, const Drawn& drawn, std::uint8_t* out) {
  if (finish_.is_plain()) return renderer_.render(needed, drawn.geometry, out, row_bytes());
  renderer_.render(needed, drawn.geometry, pixels_.data(), row_bytes());
  finish_.run(pixels_.data(), out);
  erase(drawn.choices, out);
}

RgbView Pipeline::with_slack(RgbView picture, Box box) {
  const std::size_t row = static_cast<std::size_t>(box.width) * 3;
  const std::size_t wanted = row * static_cast<std::size_t>(box.height) + kSlack;
  if (turned_.size() < wanted) turned_.resize(wanted);
  const std::uint8_t* from = part_of(picture, box).data;
  for (std::int32_t y = 0; y < box.height; ++y, from += picture.stride)
    std::memcpy(turned_.data() + static_cast<std::size_t>(y) * row, from, row);
  return {turned_.data(), {box.width, box.height}, row};
}

// What writes finished values.
void Pipeline::erase(const Choices& choices, std::uint8_t* out) const {
  for (const Choice& choice : choices) {
    if (choice.kind != Choice::Kind::kErase || !choice.applied) continue;
    if (choice.noise) {
      finish_.erase(choice.box, Draw(*choice.noise, 0, 0, Stream::kNoise), out);
    } else {
      finish_.erase(choice.box, choice.values, out);
    }
  }
}

std::size_t Pipeline::kept_bytes() const noexcept {
  return row_bytes() * static_cast<std::size_t>(chain_.output_size().height);
}

Fault Pipeline::keep(std::span<const std::uint8_t> bytes, Decoder& decoder, std::uint64_t max_pixels,
                     std::uint8_t* pixels, std::optional<ClassAugment> turned) {
  ImageInfo info;
  if (Fault fault = decoder.probe(bytes, max_pixels, info, options_)) return fault;
  Size size = turned ? turned_size(info.size, *turned) : info.size;
  drawn_.geometry.start(size);
  drawn_.choices.clear();
  Draw none(0, 0, 0, Stream::kAugment);
  for (std::size_t i = 0; i < chain_.geometric_steps(); ++i) {
    if (Fault fault = choose(chain_.steps()[i], size, none, drawn_.choices)) return fault;
  }
  drawn_.geometry.apply(drawn_.choices);
  if (Fault fault = drawn_.geometry.finish(max_pixels)) return fault;
  RgbView needed;
  if (Fault fault = decode_needed(bytes, info, decoder, turned, needed)) return fault;
  renderer_.render(needed, drawn_.geometry, pixels, row_bytes());
  return std::nullopt;
}

void Pipeline::finish_kept(const std::uint8_t* pixels, Draw& random, std::uint8_t* out, bool past_caches) {
  Size size = chain_.output_size();
  Choices& choices = drawn_.choices;
  choices.clear();
  // Flips, changes of colours, and steps that choose nothing: without a fault.
  for (std::size_t i = chain_.geometric_steps(); i < chain_.steps().size(); ++i)
    choose(chain_.steps()[i], size, random, choices);
  const bool changed = std::any_of(choices.begin(), choices.end(), [](const Choice& choice) { return choice.applied; });
  if (changed) {
    drawn_.geometry.start(size);
    drawn_.geometry.apply(choices);
    drawn_.geometry.finish(std::numeric_limits<std::uint64_t>::max());
    make({pixels, size, row_bytes()}, drawn_, out);
  } else if (finish_.is_plain()) {
    kernels::copy(pixels, kept_bytes(), out, past_caches);
  } else {
    finish_.run(pixels, out);
  }
}

Fault Pipeline::decode_needed(std::span<const std::uint8_t> bytes, const ImageInfo& info, Decoder& decoder,
                              std::optional<ClassAugment> turned, RgbView& needed) {
  const Box need = drawn_.need();
  if (!turned) return decoder.decode(bytes, info, need, needed);
  RgbView whole;
  if (Fault fault = decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, whole)) return fault;
  needed = part_of(turn(whole, *turned, turned_), need);
  return std::nullopt;
}

}  // namespace feedring
