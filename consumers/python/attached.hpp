// SPDX-License-Identifier: Apache-2.0
// The feeds that this process is attached to. A ring goes back to the pool when its loader was closed and the last
// array over it is gone; a loader that is opened again before that gets the same feed, from its start.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <feedring/feed.hpp>
#include <memory>
#include <string>

namespace feedring::python {

/// A feed and its ring, shared with the views of its batches. Whichever thread lets go of it last gives the ring back.
class Attached {
 public:
  /// Throws as Feed::attach() does. `options.stream` is what use_stream() says.
  explicit Attached(FeedOptions options);
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;
  ~Attached();

  [[nodiscard]] Feed& feed() noexcept { return feed_; }
  /// Where its batches lie.
  [[nodiscard]] DeviceTag device() const noexcept { return device_; }
  /// On which stream of the device the next batch will be used.
  void use_stream(StreamHandle stream) noexcept { stream_ = stream; }
  /// To its first batch, with its own seed.
  void rewind() { feed_.load_state(start_); }

  bool in_use = true;  ///< by a loader; read and written with the GIL
  bool gone = false;   ///< its pool is

 private:
  DeviceTag device_;
  std::atomic<StreamHandle> stream_{nullptr};  // Feed refuses a second thread, but not before it has said its stream
  Feed feed_;
  std::string start_;
  pid_t process_;
};

/// What attaches to the same ring, by the words that say so. Throws Error(kRefused) where a loader of this process uses
/// it. nullptr where nothing of it is left. Needs the GIL, as remember() does.
[[nodiscard]] std::shared_ptr<Attached> attached_before(const std::string& key, const std::string& name);
void remember(const std::string& key, const std::shared_ptr<Attached>& attached);

}  // namespace feedring::python
