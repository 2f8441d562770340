// SPDX-License-Identifier: Apache-2.0
// A producer of one's own: a program that makes the samples of feeds whose data are no images, or not in files. It is
// named in the configuration, started, watched and replaced by the pool, and writes into the ring as feedring's own
// does.
//
//   class Waves : public feedring::Filler {
//     void fill(const feedring::SampleRequest& request, std::span<const feedring::SlotTensor> out) override { … }
//   };
//   int main(int argc, char** argv) {
//     return feedring::run_producer(argc, argv, [](const feedring::OwnFeed&) { return std::make_unique<Waves>(); });
//   }
//
// docs/producers.md has the configuration that goes with it. CMake target: feedring::producer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <feedring/dtype.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace feedring {

/// What one sample's tensor is, as the configuration says.
struct OwnTensor {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::uint64_t> shape;  ///< of one sample; empty: a single number
  /// JSON: what is done to pictures on their way into it (SlotTensor::put). Empty: fill() writes what shall be there.
  std::string transform{};
};

/// A feed whose samples a Filler makes.
struct OwnFeed {
  std::string name;
  std::uint64_t samples = 0;       ///< numbers from 0 up to this
  std::vector<OwnTensor> tensors;  ///< in the configuration's order
  std::string options;             ///< JSON: the table `options` of the feed; "{}" where there is none
  /// The bytes of the file that the feed's `attachment` names, as the pool read them when it started; empty where there
  /// is none. In memory that all producers share, for as long as the process lives.
  std::span<const std::byte> attachment;
};

/// Which sample, and for which place of which epoch. A pure function of the plan: the same however many producers there
/// are, and once more after one has died.
struct SampleRequest {
  std::uint64_t sample = 0;  ///< its number, below OwnFeed::samples
  std::uint64_t epoch = 0;
  std::uint64_t ordinal = 0;  ///< its place in the epoch
  std::uint64_t random = 0;   ///< 64 random bits that belong to (seed, epoch, ordinal): the seed of a generator
};

/// A picture in the program's memory: interleaved 8 bit RGB, rows `stride` bytes apart.
struct RgbPicture {
  const std::uint8_t* rgb = nullptr;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::size_t stride = 0;
};

class PictureTransform;  ///< feedring's own

/// One sample's tensor in the slot: contiguous, zeroed, aligned to its elements. Written through until fill() returns,
/// never afterwards: the bytes then belong to the rank.
struct SlotTensor {
  const OwnTensor& spec;
  std::span<std::byte> bytes;

  /// As elements of type T, whose size must be that of the dtype (float16 and bfloat16: std::uint16_t).
  template <class T>
  [[nodiscard]] std::span<T> as() const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (sizeof(T) != bytes_of(spec.dtype)) wrong_type(sizeof(T));
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Of a tensor with a transform: writes what it makes of the picture, with the random choices that belong to (seed,
  /// epoch, ordinal): for the first such tensor those that a feed of files draws there. Throws where the picture does
  /// not fit the transform, which is to be passed on: the sample fails.
  void put(const RgbPicture& picture) const;

 private:
  [[noreturn]] void wrong_type(std::size_t asked) const;

  PictureTransform* transform_ = nullptr;

 public:
  SlotTensor(const OwnTensor& tensor, std::span<std::byte> memory, PictureTransform* transform = nullptr)
      : spec(tensor), bytes(memory), transform_(transform) {}
};

/// Makes the samples of one feed. One object for each feed and process. It is made on the producer's main thread,
/// before the first batch, and from then on used by another thread alone.
class Filler {
 public:
  virtual ~Filler() = default;
  Filler() = default;
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;

  /// Writes the sample: a tensor of `out` for each of the feed, in its order. An exception is a failed sample, with
  /// what() as the reason: the feed's on_error says what becomes of it. A sample that crashes the process is tried once
  /// more and then quarantined; one that takes longer than item_deadline_s counts as a crash.
  virtual void fill(const SampleRequest& request, std::span<const SlotTensor> out) = 0;
};

/// Called once for each feed that has own samples. What it throws ends the pool, with what() as the reason.
using MakeFiller = std::function<std::unique_ptr<Filler>(const OwnFeed&)>;

/// The whole life of a producer; call it from main(), with its arguments: the last five are the pool's, those before
/// them are as the configuration has them. Returns an exit code for main(). Signals of a terminal are left to the
/// trainer; standard output goes where the pool's standard error goes. Image feeds are served too, so that one pool may
/// have both.
int run_producer(int argc, char** argv, const MakeFiller& make_filler);

}  // namespace feedring
