// SPDX-License-Identifier: Apache-2.0
// Which image format a file holds, told by its first bytes. Names lie (a PNG called .JPEG, an error page called .jpg),
// so nothing but the content decides.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedring {

enum class Format : std::uint8_t { kUnknown, kJpeg, kPng, kWebp, kGif, kBmp, kTiff, kPnm };

/// The format whose signature the bytes begin with; kUnknown for everything else, empty files included.
Format sniff(std::span<const std::uint8_t> bytes) noexcept;

/// "JPEG", "PNG", … as in messages; "unknown" for kUnknown.
std::string_view name_of(Format format) noexcept;

/// One clause on why bytes that sniff() does not know are no image: empty, too short, a web page, an XML text, or
/// simply unknown with the first bytes in hexadecimal.
std::string describe_unknown(std::span<const std::uint8_t> bytes);

}  // namespace feedring
