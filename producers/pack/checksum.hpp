// SPDX-License-Identifier: Apache-2.0
// XXH3 of bytes that come in pieces. Internal to this folder.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace feedring::pack {

class Checksum {
 public:
  Checksum() : state_(XXH3_createState(), &XXH3_freeState) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }

  void add(std::string_view bytes) { XXH3_128bits_update(state_.get(), bytes.data(), bytes.size()); }
  /// As text, and begins anew.
  [[nodiscard]] std::string take() {
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_.get()));
    XXH3_128bits_reset(state_.get());
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : canonical.digest) {
      text.push_back(kDigits[byte >> 4]);
      text.push_back(kDigits[byte & 15]);
    }
    return text;
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace feedring::pack
