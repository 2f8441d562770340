// SPDX-License-Identifier: Apache-2.0
// Element types and memory layouts of image tensors, and what they are called.
#pragma once

#include <cstdint>
#include <feedring/dtype.hpp>
#include <string_view>

namespace feedring {

/// How the bytes of one image lie: NHWC is interleaved (channels_last), NCHW planar. The tensor is (B, 3, H, W) in
/// both.
enum class Layout : std::uint8_t { kNhwc = 0, kNchw = 1 };

constexpr std::string_view name_of(Layout layout) noexcept { return layout == Layout::kNhwc ? "NHWC" : "NCHW"; }

}  // namespace feedring
