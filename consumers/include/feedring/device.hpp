// SPDX-License-Identifier: Apache-2.0
// What reads a rank's slots besides the rank's own code: a device that copies from them while the program goes on. A
// slot returns to the producers only after everything that the device had been asked to do with it is done. This
// interface is how the feed asks; tests/device holds what every implementation must keep, docs/device.md the rules.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace feedring {

/// Where memory lies. The numbers are DLPack's.
enum class DeviceType : std::int32_t { kCpu = 1, kCuda = 2 };
struct DeviceTag {
  DeviceType type = DeviceType::kCpu;
  std::int32_t index = 0;
  [[nodiscard]] bool operator==(const DeviceTag&) const = default;
};

/// A queue of work on a device: what a CUDA device calls cudaStream_t. Null is the default stream; for the host device
/// that is the calling thread itself, whose work is always done.
using StreamHandle = void*;

/// A point in the work of a stream.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  virtual ~Mark() = default;
};

/// A point in a device's own work: it fires once everything submitted before it is done. An event whose device failed
/// never fires, so that what waits for it is kept rather than overwritten. All members may be called by any thread.
class Event : public Mark {
 public:
  /// Never blocks.
  [[nodiscard]] virtual bool fired() const noexcept = 0;
  /// Blocks until it fired, for at most `at_most`; returns fired().
  [[nodiscard]] virtual bool wait(std::chrono::nanoseconds at_most) const = 0;
  /// Runs `action` exactly once after it fired, on any thread, at once where it has already. `action` must not throw,
  /// block, or call the device.
  virtual void then(std::function<void()> action) = 0;
};

/// One run of bytes to copy. Direction is whatever the two addresses say.
struct CopyPiece {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};

/// The last step of images: each pixel value becomes what a table says for its channel, and goes where the layout says.
/// All addresses are the device's; nothing overlaps.
struct FinishWork {
  std::byte* to = nullptr;           ///< `images` x 3 x `pixels` elements, at a multiple of element_bytes
  const std::byte* from = nullptr;   ///< `images` x `pixels` x 3 bytes: interleaved RGB
  const std::byte* table = nullptr;  ///< 3 x 256 numbers of 32 bits: of each channel's results the bits
  std::uint64_t images = 0;
  std::uint64_t pixels = 0;         ///< of one image
  std::uint32_t element_bytes = 4;  ///< 1, 2 or 4: so many low bytes of a number are an element
  bool planar = true;               ///< true: images are (3, H, W) in memory, false: (H, W, 3)
};

/// A device with one stream of its own. Any thread may call any member. Implementations outlive what was submitted to
/// them: destruction ends when every event that can fire has fired. Errors: Error(kUsage) for arguments that make no
/// sense, Error(kMemory) for missing memory, Error(kRefused) for a refused registration, else Error(kInternal). After a
/// failed copy nothing more is accepted.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Where allocate() takes memory from.
  [[nodiscard]] virtual DeviceTag tag() const noexcept = 0;
  /// True: batches are copied to memory of this device. False: it reads the slots where they lie, as the host does.
  [[nodiscard]] virtual bool copies() const noexcept = 0;
  [[nodiscard]] virtual StreamHandle own_stream() const noexcept = 0;

  /// Tells the device about memory that it will copy from (a CUDA device pins it), so that copies from there run beside
  /// the program. Throws Error(kUsage) for an empty range and for one that overlaps a registered one, Error(kRefused)
  /// where the system or the device does not want it: then the memory is as before, and copies from it are staged.
  virtual void register_memory(std::byte* base, std::size_t bytes) = 0;
  /// Undoes register_memory(); does nothing for memory that is not registered. No copy from it may be under way.
  virtual void unregister_memory(std::byte* base) noexcept = 0;

  /// Memory of the device, a multiple of 256 by address; it goes back with the last copy of the pointer. Throws
  /// Error(kMemory). The first work on it must be ordered after a mark on the stream that the program works on, because
  /// an allocator may hand out memory that this stream has not finished with.
  [[nodiscard]] virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;

  /// Puts the copies on the device's own stream, in no order among themselves. Registered memory is read later, until
  /// an event recorded after this fires; other host memory has been read when this returns.
  virtual void copy(std::span<const CopyPiece> pieces) = 0;
  /// Puts the work on the device's own stream, after the copies that it holds. With 0 images it only makes ready.
  /// Throws Error(kRefused) where this device cannot.
  virtual void finish(const FinishWork& work) = 0;
  /// Marks the point after all work submitted to the own stream so far. Events fire in the order of their recording.
  /// Never null.
  [[nodiscard]] virtual std::shared_ptr<Event> record() = 0;

  /// Marks the point after all work put on `stream` so far, by whomever. Throws Error(kUsage) where the stream records
  /// a CUDA graph; so does order().
  [[nodiscard]] virtual std::shared_ptr<const Mark> mark(StreamHandle stream) = 0;
  /// Whatever is put on `stream` from now on begins after `mark`, which this or another device of the same kind made.
  /// Does not block, except where `stream` is the calling thread (host device): that waits, for at most `at_most`, and
  /// throws Error(kDeadline), or Error(kInternal) where the device failed.
  virtual void order(StreamHandle stream, const Mark& mark, std::chrono::nanoseconds at_most) = 0;

  /// Why nothing more is accepted, in one sentence; empty while all is well. Asks the device; not for every batch.
  [[nodiscard]] virtual std::string failure() const = 0;
};

/// How far the host device departs from "everything is done at once": what tests use to play a real device.
struct HostDeviceOptions {
  std::chrono::nanoseconds delay{0};  ///< from submission to the end of a piece of work
  std::uint64_t delay_seed = 0;       ///< not 0: each delay is drawn from 0 to `delay`
  std::uint32_t lose_every = 0;       ///< every n-th event never fires; 0: none is lost
  bool copies = false;                ///< it has "memory of its own", as a GPU has, and batches are copied there
  std::uint64_t fail_copy = 0;        ///< the n-th copy fails, and with it the device; 0: none
  /// Largest sum of registered bytes; 0: all registration is refused.
  std::uint64_t registration_limit = ~std::uint64_t{0};
};

/// The device of a program that reads its batches with the CPU. Without options everything is done at once, by the
/// caller; otherwise a thread of its own works through copies and events.
[[nodiscard]] std::shared_ptr<Device> host_device(const HostDeviceOptions& options = {});

}  // namespace feedring
