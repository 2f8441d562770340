// SPDX-License-Identifier: Apache-2.0
// The pixels of a feed outside of a pool: what training saw of a file, for inference, serving and debugging.
//
//   const auto how = feedring::PictureSpec::of_feed("feed.toml", "val");
//   const feedring::Picture picture = feedring::decode(bytes_of_a_jpeg, how);
//
// CMake target: feedring::producer, which brings the codecs along.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <feedring/dtype.hpp>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace feedring {

struct Picture {
  std::vector<std::byte> bytes;  ///< contiguous, in the order of `shape`
  Dtype dtype = Dtype::kUint8;
  /// {height, width, 3}, or {3, height, width} where the feed has layout = "NCHW".
  std::array<std::uint64_t, 3> shape{};
  bool planar = false;  ///< the latter
};

/// Which random numbers a transform draws: those that a feed with this seed draws for the sample at this ordinal of
/// this epoch (Batch::epoch(), Batch::first_ordinal() + row). Pictures of an episode draw others, one by one, and may
/// be turned: of a feed of episodes only what its transform does not draw is the same here.
struct PictureDraw {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
  std::uint64_t ordinal = 0;
  std::uint32_t view = 0;  ///< where its view has a count: which of them
};

/// How files become pictures. Immutable; copies are cheap and may be used by many threads.
class PictureSpec {
 public:
  /// As a feed of a configuration (docs/configuration.md) makes them; its first feed where no name is given, and of its
  /// views the one of this name, else the first. Its data need not be there. A feed without a transform, which no pool
  /// takes, means whole pictures, each of its own size, as 8 bit RGB. Throws Error(kUsage) for a mistake in the
  /// file, and for a feed or view that is not there or makes its samples of no files.
  [[nodiscard]] static PictureSpec of_feed(const std::filesystem::path& configuration, const std::string& feed = "",
                                           const std::string& view = "");

  struct Parts;

 private:
  explicit PictureSpec(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  friend Picture decode(std::span<const std::byte> file, const PictureSpec& how, const PictureDraw& draw);

  std::shared_ptr<const Parts> parts_;
};

/// The picture in the bytes of a file (JPEG, PNG, WebP, GIF, BMP, TIFF, PNM): byte for byte what a pool writes into a
/// slot for the same spec and draw. Any thread; each keeps its buffers from call to call. Throws Error(kData) with the
/// reason where the bytes are no picture, damaged, or more than max_pixels; Error(kUsage) for a view beyond the count.
[[nodiscard]] Picture decode(std::span<const std::byte> file, const PictureSpec& how, const PictureDraw& draw = {});

}  // namespace feedring
