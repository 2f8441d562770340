// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <feedring/decode.hpp>
#include <feedring/error.hpp>
#include <optional>

#include "producers/config/feed_spec.hpp"
#include "producers/config/find_feed.hpp"
#include "producers/plan/draw.hpp"
#include "producers/transform/decode_options.hpp"
#include "producers/transform/pipeline.hpp"

namespace feedring {

struct PictureSpec::Parts {
  std::string feed;
  std::optional<Chain> chain;  // none: whole pictures
  Dtype dtype;
  Layout layout;
  DecodeOptions options;
  std::uint64_t max_pixels;
  std::uint32_t first_view;  // of all of the feed
  std::uint32_t views;
};

namespace {

// What a thread needs for the spec that it used last.
struct Scratch {
  explicit Scratch(std::shared_ptr<const PictureSpec::Parts> used) : parts(std::move(used)) {
    if (parts->chain) pipeline.emplace(*parts->chain, parts->dtype, parts->layout, parts->options);
  }

  std::shared_ptr<const PictureSpec::Parts> parts;  // shared, so that its address is nobody else's meanwhile
  std::optional<Pipeline> pipeline;
  Decoder decoder;
  std::vector<std::uint8_t> file;
};

Scratch& scratch_for(const std::shared_ptr<const PictureSpec::Parts>& parts) {
  thread_local std::optional<Scratch> kept;
  if (!kept || kept->parts != parts) kept.emplace(parts);
  return *kept;
}

// All of the picture, as the file has it.
Fault decode_whole(std::span<const std::uint8_t> file, Scratch& scratch, Picture& picture) {
  ImageInfo info;
  if (Fault fault = scratch.decoder.probe(file, scratch.parts->max_pixels, info, scratch.parts->options)) return fault;
  RgbView pixels;
  if (Fault fault = scratch.decoder.decode(file, info, {0, 0, info.size.width, info.size.height}, pixels)) return fault;
  picture.shape = {static_cast<std::uint64_t>(info.size.height), static_cast<std::uint64_t>(info.size.width), 3};
  const std::size_t row = picture.shape[1] * 3;
  picture.bytes.resize(row * picture.shape[0]);
  for (std::size_t y = 0; y < picture.shape[0]; ++y)
    std::memcpy(picture.bytes.data() + y * row, pixels.data + y * pixels.stride, row);
  return std::nullopt;
}

Fault decode_for(std::span<const std::uint8_t> file, Scratch& scratch, Draw random, Picture& picture) {
  const PictureSpec::Parts& parts = *scratch.parts;
  if (!parts.chain) return decode_whole(file, scratch, picture);
  const auto height = static_cast<std::uint64_t>(parts.chain->output_size().height);
  const auto width = static_cast<std::uint64_t>(parts.chain->output_size().width);
  picture.dtype = parts.dtype;
  picture.shape = {height, width, 3};
  picture.planar = parts.layout == Layout::kNchw;
  if (picture.planar) picture.shape = {3, height, width};
  picture.bytes.resize(scratch.pipeline->bytes_per_image());
  return scratch.pipeline->run(file, scratch.decoder, random, parts.max_pixels,
                               reinterpret_cast<std::uint8_t*>(picture.bytes.data()));
}

}  // namespace

PictureSpec PictureSpec::of_feed(const std::filesystem::path& configuration, const std::string& feed,
                                 const std::string& view) {
  const Config config = load_config(configuration);
  const FeedSpec& spec = config.feeds[feed.empty() ? 0 : find_feed(feed, config, configuration.string())];
  if (spec.own) {
    throw Error(ErrorKind::kUsage,
                fmt::format("feed '{}' of {} makes its samples of no files", spec.name, configuration.string()));
  }
  std::uint32_t first = 0;
  for (const ViewSpec& each : views_of(spec)) {
    const std::uint32_t count = each.count.value_or(1);
    if (view.empty() || view == each.name) {
      std::optional<Chain> chain;
      if (!each.transform.empty()) chain = Chain::parse(each.transform);
      const Dtype dtype = chain ? chain->slot_dtype(spec.dtype) : Dtype::kUint8;
      return PictureSpec(std::make_shared<const Parts>(
          Parts{spec.name, std::move(chain), dtype, spec.layout, decode_options(spec), spec.max_pixels, first, count}));
    }
    first += count;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("feed '{}' of {} has no view '{}'", spec.name, configuration.string(), view));
}

Picture decode(std::span<const std::byte> file, const PictureSpec& how, const PictureDraw& draw) {
  const PictureSpec::Parts& parts = *how.parts_;
  if (draw.view >= parts.views) {
    throw Error(ErrorKind::kUsage, fmt::format("view {} was asked for, and feed '{}' makes {} of them", draw.view,
                                               parts.feed, parts.views));
  }
  Scratch& scratch = scratch_for(how.parts_);
  // Decoders read a little past the end.
  scratch.file.resize(std::max(scratch.file.size(), file.size() + kSlack));
  std::copy_n(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), scratch.file.begin());
  std::memset(scratch.file.data() + file.size(), 0, kSlack);

  Picture picture;
  const Fault fault =
      decode_for({scratch.file.data(), file.size()}, scratch,
                 {draw.seed, draw.epoch, draw.ordinal, Stream::kAugment, parts.first_view + draw.view}, picture);
  if (fault) throw Error(ErrorKind::kData, fmt::format("the picture for feed '{}': {}", parts.feed, *fault));
  return picture;
}

}  // namespace feedring
