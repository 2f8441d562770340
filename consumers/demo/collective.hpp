// SPDX-License-Identifier: Apache-2.0
// What the demo's ranks tell each other: gradients and sums over c10d's Gloo back-end, and nothing else. feedring
// itself needs no collective; this is what a trainer does anyway.
#pragma once

#include <torch/torch.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>  // empty unless USE_C10D_GLOO is defined, see CMakeLists.txt
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

namespace feedring::demo {

/// The ranks of the job, from torchrun's variables RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; without them one
/// rank. Throws std::exception if the others do not come or go away.
class Ranks {
 public:
  Ranks() : rank_(number("RANK", 0)), world_(number("WORLD_SIZE", 1)) {
    const char* address = std::getenv("MASTER_ADDR");
    c10d::TCPStoreOptions store_options;
    store_options.port = static_cast<std::uint16_t>(number("MASTER_PORT", 29500));
    store_options.isServer = rank_ == 0;
    store_options.numWorkers = static_cast<std::size_t>(world_);
    auto store = c10::make_intrusive<c10d::TCPStore>(address ? address : "127.0.0.1", store_options);
    auto options = c10d::ProcessGroupGloo::Options::create();
    const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
    options->devices.push_back(interface ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                                         : c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank_, world_, options);
  }

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int world() const noexcept { return world_; }

  /// Every rank's `tensor` becomes the sum over all ranks. Also a barrier.
  void sum(at::Tensor tensor) {
    std::vector<at::Tensor> tensors{std::move(tensor)};
    group_->allreduce(tensors)->wait();
  }

 private:
  static int number(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return otherwise;
    char* end = nullptr;
    const long value = std::strtol(text, &end, 10);
    if (end == text || *end != '\0') throw std::runtime_error(std::string(variable) + " is not a number: " + text);
    return static_cast<int>(value);
  }

  int rank_;
  int world_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace feedring::demo
