// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

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

Fault Renderer::render(std::span<const std::uint8_t> bytes, const ImageInfo& info, Decoder& decoder,
                       const Geometry& geometry, std::uint8_t* out, std::size_t stride) {
  RgbView pixels;
  if (Fault fault = decoder.decode(bytes, info, geometry.stages().front().need, pixels)) return fault;
  render(pixels, geometry, out, stride);
  return std::nullopt;
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
  if (Fault fault = choose_for(turned ? turned_size(info.size, *turned) : info.size, random, max_pixels)) return fault;
  if (finish_.is_plain()) return render(bytes, info, decoder, turned, out);
  if (Fault fault = render(bytes, info, decoder, turned, pixels_.data())) return fault;
  finish_.run(pixels_.data(), out);
  erase(out);
  return std::nullopt;
}

Fault Pipeline::run(RgbView picture, Draw& random, std::uint64_t max_pixels, std::uint8_t* out) {
  if (Fault fault = choose_for(picture.size, random, max_pixels)) return fault;
  const RgbView needed = with_slack(picture, geometry_.stages().front().need);
  const std::size_t row = static_cast<std::size_t>(chain_.output_size().width) * 3;
  if (finish_.is_plain()) {
    renderer_.render(needed, geometry_, out, row);
    return std::nullopt;
  }
  renderer_.render(needed, geometry_, pixels_.data(), row);
  finish_.run(pixels_.data(), out);
  erase(out);
  return std::nullopt;
}

Fault Pipeline::choose_for(Size size, Draw& random, std::uint64_t max_pixels) {
  if (Fault fault = chain_.draw(size, random, choices_)) return fault;
  geometry_.start(size);
  geometry_.apply(choices_);
  return geometry_.finish(max_pixels);
}

RgbView Pipeline::with_slack(RgbView picture, Box box) {
  const std::size_t row = static_cast<std::size_t>(box.width) * 3;
  const std::size_t wanted = row * static_cast<std::size_t>(box.height) + kSlack;
  if (turned_.size() < wanted) turned_.resize(wanted);
  const std::uint8_t* from =
      picture.data + static_cast<std::size_t>(box.y) * picture.stride + static_cast<std::size_t>(box.x) * 3;
  for (std::int32_t y = 0; y < box.height; ++y, from += picture.stride)
    std::memcpy(turned_.data() + static_cast<std::size_t>(y) * row, from, row);
  return {turned_.data(), {box.width, box.height}, row};
}

// What writes finished values.
void Pipeline::erase(std::uint8_t* out) const {
  for (const Choice& choice : choices_) {
    if (choice.kind == Choice::Kind::kErase && choice.applied) finish_.erase(choice.box, choice.values, out);
  }
}

std::size_t Pipeline::kept_bytes() const noexcept {
  const Size size = chain_.output_size();
  return static_cast<std::size_t>(size.width) * static_cast<std::size_t>(size.height) * 3;
}

Fault Pipeline::keep(std::span<const std::uint8_t> bytes, Decoder& decoder, std::uint64_t max_pixels,
                     std::uint8_t* pixels, std::optional<ClassAugment> turned) {
  ImageInfo info;
  if (Fault fault = decoder.probe(bytes, max_pixels, info, options_)) return fault;
  Size size = turned ? turned_size(info.size, *turned) : info.size;
  geometry_.start(size);
  choices_.clear();
  Draw none(0, 0, 0, Stream::kAugment);
  for (std::size_t i = 0; i < chain_.geometric_steps(); ++i) {
    if (Fault fault = choose(chain_.steps()[i], size, none, choices_)) return fault;
  }
  geometry_.apply(choices_);
  if (Fault fault = geometry_.finish(max_pixels)) return fault;
  return render(bytes, info, decoder, turned, pixels);
}

void Pipeline::finish_kept(const std::uint8_t* pixels, Draw& random, std::uint8_t* out) {
  Size size = chain_.output_size();
  choices_.clear();
  // Flips, changes of colours, and steps that choose nothing: without a fault.
  for (std::size_t i = chain_.geometric_steps(); i < chain_.steps().size(); ++i)
    choose(chain_.steps()[i], size, random, choices_);
  const bool changed =
      std::any_of(choices_.begin(), choices_.end(), [](const Choice& choice) { return choice.applied; });
  if (changed) {
    geometry_.start(size);
    geometry_.apply(choices_);
    geometry_.finish(std::numeric_limits<std::uint64_t>::max());
    std::uint8_t* to = finish_.is_plain() ? out : pixels_.data();
    const std::size_t row = static_cast<std::size_t>(size.width) * 3;
    renderer_.render({pixels, size, row}, geometry_, to, row);
    pixels = to;
  }
  if (!finish_.is_plain()) {
    finish_.run(pixels, out);
    erase(out);
  } else if (!changed) {
    std::memcpy(out, pixels, kept_bytes());
  }
}

Fault Pipeline::render(std::span<const std::uint8_t> bytes, const ImageInfo& info, Decoder& decoder,
                       std::optional<ClassAugment> turned, std::uint8_t* out) {
  const std::size_t row = static_cast<std::size_t>(chain_.output_size().width) * 3;
  if (!turned) return renderer_.render(bytes, info, decoder, geometry_, out, row);
  RgbView whole;
  if (Fault fault = decoder.decode(bytes, info, {0, 0, info.size.width, info.size.height}, whole)) return fault;
  RgbView image = turn(whole, *turned, turned_);
  const Box need = geometry_.stages().front().need;
  image.data += static_cast<std::size_t>(need.y) * image.stride + static_cast<std::size_t>(need.x) * 3;
  image.size = {need.width, need.height};
  renderer_.render(image, geometry_, out, row);
  return std::nullopt;
}

}  // namespace feedring
