// SPDX-License-Identifier: Apache-2.0
// Rates of the device without a pool: batches over the bus from a ring's slots beside memory of CUDA's own, and the
// kernel that finishes images.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <feedring/device.hpp>
#include <feedring/error.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "consumers/batch_content.hpp"
#include "consumers/cuda/api.hpp"
#include "runtime/memfd.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring::bench {

using Clock = std::chrono::steady_clock;
using nlohmann::json;
inline constexpr std::chrono::seconds kLong{60};
inline constexpr std::uint32_t kSlots = 4;

struct Arguments {
  std::string pool, runtime, out;
  std::uint32_t rows = 256, side = 224, rounds = 9, steps = 20, copies = 40;
  unsigned launches = 160;  // as many kernels as a step of ResNet-50 has, roughly
  double step_ms = 100;     // for 256 images about what ResNet-50 takes in mixed precision
};

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

inline json spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"median", values[values.size() / 2]}, {"min", values.front()}, {"max", values.back()}};
}

inline void finish_all(Device& device) {
  if (!device.record()->wait(kLong)) {
    const std::string why = device.failure();
    throw Error(ErrorKind::kDeadline, "the device's work did not end within 60 s" + (why.empty() ? "" : ": " + why));
  }
}

inline contract::RingShape ring_of(const Arguments& with, Dtype dtype, Layout layout) {
  return lay_out_ring(kSlots, 2, with.rows, image_feed_tensors(with.side, with.side, dtype, layout));
}

/// Memory that CUDA itself allocated and pinned: the peak to compare with.
inline std::shared_ptr<std::byte> pinned_memory(void* library, std::size_t bytes) {
  const auto allocate = reinterpret_cast<int (*)(void**, std::size_t)>(::dlsym(library, "cudaMallocHost"));
  const auto free = reinterpret_cast<int (*)(void*)>(::dlsym(library, "cudaFreeHost"));
  void* memory = nullptr;
  if (allocate == nullptr || free == nullptr || allocate(&memory, bytes) != cudart::kSuccess)
    throw Error(ErrorKind::kMemory, "cudaMallocHost of " + std::to_string(bytes) + " bytes failed");
  return {static_cast<std::byte*>(memory), [free](std::byte* done) { free(done); }};
}

/// GB/s of whole batches, from the slots of a ring and from the same places of pinned memory.
inline json host_to_device(Device& device, void* library, const Arguments& with) {
  const contract::RingShape shape = ring_of(with, Dtype::kUint8, Layout::kNhwc);
  const std::size_t batch = used_bytes(shape);
  const UniqueFd fd = create_memfd("feedring-bench", shape.bytes);
  const Mapping ring(fd.get(), Mapping::Access::kReadWrite, shape.bytes);
  const auto pinned = pinned_memory(library, shape.bytes);
  const auto target = device.allocate(batch);
  std::memset(ring.data(), 1, ring.size());
  std::memset(pinned.get(), 1, shape.bytes);
  const auto rate = [&](const std::byte* base) {
    const auto begin = Clock::now();
    for (std::uint32_t i = 0; i < with.copies; ++i) {
      const CopyPiece piece{target.get(), base + shape.payload_offset + i % kSlots * shape.payload_stride, batch};
      device.copy({&piece, 1});
    }
    finish_all(device);
    return static_cast<double>(batch) * with.copies / seconds_since(begin) / 1e9;
  };
  rate(pinned.get());
  const double unregistered = rate(ring.data());
  device.register_memory(ring.data(), ring.size());
  std::vector<double> ours, peak, ratios;
  for (std::uint32_t round = 0; round < with.rounds; ++round) {
    if (round % 2 == 0) ours.push_back(rate(ring.data()));
    peak.push_back(rate(pinned.get()));
    if (round % 2 == 1) ours.push_back(rate(ring.data()));
    ratios.push_back(ours.back() / peak.back());
  }
  device.unregister_memory(ring.data());
  return {{"slots_gb_per_s", spread(ours)},
          {"pinned_gb_per_s", spread(peak)},
          {"slots_over_pinned", spread(ratios)},
          {"not_registered_gb_per_s", unregistered}};
}

/// GB/s read and written by the kernel that finishes images.
inline double finish_rate(Device& device, const Arguments& with, std::uint32_t element_bytes, bool planar) {
  const std::uint64_t pixels = std::uint64_t{with.side} * with.side;
  const auto from = device.allocate(with.rows * pixels * 3);
  const auto to = device.allocate(with.rows * pixels * 3 * element_bytes);
  const auto table = device.allocate(768 * 4);
  std::vector<std::byte> noise(with.rows * pixels * 3);  // equal values would be read as one
  std::mt19937 random(1);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  const CopyPiece piece{from.get(), noise.data(), noise.size()};
  device.copy({&piece, 1});
  const FinishWork work{to.get(), from.get(), table.get(), with.rows, pixels, element_bytes, planar};
  device.finish(work);
  finish_all(device);
  const auto begin = Clock::now();
  for (std::uint32_t i = 0; i < with.copies; ++i) device.finish(work);
  finish_all(device);
  const double bytes = static_cast<double>(with.rows * pixels * 3 * (1 + element_bytes));
  return bytes * with.copies / seconds_since(begin) / 1e9;
}

}  // namespace feedring::bench
