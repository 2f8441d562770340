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
  Chain chain;
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
  explicit Scratch(std::shared_ptr<const PictureSpec::Parts> used)
      : parts(std::move(used)), pipeline(parts->chain, parts->dtype, parts->layout, parts->options) {}

  std::shared_ptr<const PictureSpec::Parts> parts;  // shared, so that its address is nobody else's meanwhile
  Pipeline pipeline;
  Decoder decoder;
  std::vector<std::uint8_t> file;
};

Scratch& scratch_for(const std::shared_ptr<const PictureSpec::Parts>& parts) {
  thread_local std::optional<Scratch> kept;
  if (!kept || kept->parts != parts) kept.emplace(parts);
  return *kept;
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
      Chain chain = Chain::parse(each.transform);
      const Dtype dtype = chain.slot_dtype(spec.dtype);
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

  const Size size = parts.chain.output_size();
  const auto height = static_cast<std::uint64_t>(size.height);
  const auto width = static_cast<std::uint64_t>(size.width);
  Picture picture;
  picture.dtype = parts.dtype;
  picture.shape = {height, width, 3};
  if (parts.layout == Layout::kNchw) picture.shape = {3, height, width};
  picture.bytes.resize(scratch.pipeline.bytes_per_image());
  Draw random(draw.seed, draw.epoch, draw.ordinal, Stream::kAugment, parts.first_view + draw.view);
  const Fault fault = scratch.pipeline.run({scratch.file.data(), file.size()}, scratch.decoder, random,
                                           parts.max_pixels, reinterpret_cast<std::uint8_t*>(picture.bytes.data()));
  if (fault) throw Error(ErrorKind::kData, fmt::format("the picture for feed '{}': {}", parts.feed, *fault));
  return picture;
}

}  // namespace feedring
