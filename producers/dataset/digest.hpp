// SPDX-License-Identifier: Apache-2.0
// The data set's digest, sample by sample. Internal to this folder; dataset_digest (scan.hpp) says what is hashed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "producers/dataset/scan.hpp"

struct XXH3_state_s;

namespace feedring::dataset {

/// 128 bits, most significant byte first (xxHash's canonical form).
using DigestBytes = std::array<std::uint8_t, 16>;

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(std::string_view path, std::uint64_t bytes, std::uint64_t label);
  void add(const Scan& scan, const Sample& sample);
  [[nodiscard]] DigestBytes finish() const;

 private:
  XXH3_state_s* state_;
};

/// Of all samples in their order; where they are weighted, of their weights too.
[[nodiscard]] DigestBytes digest_of(const Scan& scan);

[[nodiscard]] std::string hex(const DigestBytes& digest);

}  // namespace feedring::dataset
