// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg-turbo: any 8 bit baseline, extended, progressive or arithmetic file in gray, YCbCr, RGB, CMYK, YCCK.
// Internal to this folder; the door is decoder.hpp, which also says what counts as damage.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <memory>
#include <span>

#include "producers/decode/image.hpp"
#include "producers/decode/jpeg_memory.hpp"

namespace feedring {

class Arena;

class JpegDecoder {
 public:
  /// Throws Error(kInternal) when libjpeg refuses to start (another ABI at run time than at build time).
  JpegDecoder();
  ~JpegDecoder();
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  /// The size that the header states. The arena was just reset.
  Fault header(std::span<const std::uint8_t> bytes, Arena& arena, Size& size, bool accept_damaged = false);

  /// The pixels of `box`, in memory of the arena. The arena was just reset; `size` is what header() gave.
  /// `accept_damaged` takes what libjpeg only warns of: it makes up what is missing.
  Fault pixels(std::span<const std::uint8_t> bytes, Size size, Box box, bool accept_damaged, Arena& arena,
               RgbView& out);

  /// What the library's callbacks and the functions that may be left by longjmp see. Plain data only.
  struct State {
    jpeg_decompress_struct cinfo;
    jpeg_error_mgr errors;
    jpeg_progress_mgr progress;
    JpegMemory memory;
    jpeg_memory_mgr* own_memory;  // the manager that libjpeg made for itself; holds only the decompressor's own parts
    bool accept_damaged;
    std::jmp_buf jump;
    char text[JMSG_LENGTH_MAX];  // why the last step failed
  };

 private:
  Fault open(std::span<const std::uint8_t> bytes, Arena& arena, bool accept_damaged);

  std::unique_ptr<State> state_;
};

}  // namespace feedring
