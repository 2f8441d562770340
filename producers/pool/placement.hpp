// SPDX-License-Identifier: Apache-2.0
// Where the pages and the producers of a rank belong: on the NUMA node of its GPU. Elsewhere every byte crosses the
// link between the sockets on its way to the device, at a third of the speed on some machines. Local rank r is taken to
// use GPU r, counted by PCI address among the NVIDIA GPUs that CUDA_VISIBLE_DEVICES leaves. Where this is unknown (one
// node, no GPU, devices named by UUID, a list of one that may be a single rank's) nothing is placed and the kernel
// decides.
#pragma once

#include <hwloc.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace feedring {

class Placement {
 public:
  /// Asks hwloc about this machine, or about the one that HWLOC_XMLFILE describes. Some 10 ms.
  Placement();

  /// The node, as the system numbers them; nullopt: no matter, or unknown.
  [[nodiscard]] std::optional<unsigned> node_of_rank(std::uint32_t local_rank) const noexcept;

  /// Cores of that node which this process may use.
  [[nodiscard]] std::uint32_t cores(unsigned node) const noexcept;
  /// Keeps all threads of a producer on the cores of that node which its supervisor may use. False where the system
  /// refuses.
  [[nodiscard]] bool bind(pid_t producer, unsigned node) const noexcept;

  /// "ranks 0 1 on NUMA node 0, ranks 2 3 on node 1", or why nothing is placed.
  [[nodiscard]] std::string describe(std::uint32_t ranks) const;

 private:
  using Cores = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;
  [[nodiscard]] Cores granted_cores(unsigned node) const noexcept;

  struct Free {
    void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
  };
  std::unique_ptr<hwloc_topology, Free> topology_;
  std::vector<std::optional<unsigned>> gpu_nodes_;
  std::string why_not_;  // empty: gpu_nodes_ counts
};

}  // namespace feedring
