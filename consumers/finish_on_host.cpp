// SPDX-License-Identifier: Apache-2.0
#include "consumers/finish_on_host.hpp"

#include <array>
#include <cstring>

namespace feedring {
namespace {

template <class Element>
void finish(const FinishWork& work) noexcept {
  std::array<std::uint32_t, 768> bits;
  std::memcpy(bits.data(), work.table, sizeof bits);
  const std::size_t channel = sizeof(Element) * (work.planar ? work.pixels : 1);
  const std::size_t step = sizeof(Element) * (work.planar ? 1 : 3);
  // By memcpy, which is one store: bytes of a batch have no type of their own.
  const auto put = [&](std::byte* to, std::size_t at) {
    const auto element = static_cast<Element>(bits[at]);
    std::memcpy(to, &element, sizeof element);
  };
  const auto* rgb = reinterpret_cast<const std::uint8_t*>(work.from);
  for (std::uint64_t image = 0; image < work.images; ++image) {
    std::byte* out = work.to + image * 3 * work.pixels * sizeof(Element);
    for (std::uint64_t p = 0; p < work.pixels; ++p, rgb += 3, out += step) {
      put(out, rgb[0]);
      put(out + channel, 256U + rgb[1]);
      put(out + 2 * channel, 512U + rgb[2]);
    }
  }
}

}  // namespace

void finish_on_host(const FinishWork& work) noexcept {
  if (work.images == 0) return;
  switch (work.element_bytes) {
    case 1: return finish<std::uint8_t>(work);
    case 2: return finish<std::uint16_t>(work);
    default: return finish<std::uint32_t>(work);
  }
}

}  // namespace feedring
