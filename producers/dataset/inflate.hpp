// SPDX-License-Identifier: Apache-2.0
// What a zip has compressed, unpacked by zlib. Internal to this folder and pack.
#pragma once

#include <zlib.h>

namespace feedring::dataset {

/// zlib's state for deflated bytes without a head, as zips have them; given back whatever happens.
class Inflate {
 public:
  Inflate() noexcept : ready_(::inflateInit2(&stream, -MAX_WBITS) == Z_OK) {}
  ~Inflate() {
    if (ready_) ::inflateEnd(&stream);
  }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  /// False: there was no memory for it.
  [[nodiscard]] bool ready() const noexcept { return ready_; }
  z_stream stream{};

 private:
  bool ready_;
};

}  // namespace feedring::dataset
