// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <feedring/error.hpp>
#include <string_view>
#include <tuple>

namespace feedring {
namespace {

constexpr unsigned kNvidia = 0x10de;
constexpr unsigned kDisplay = 0x03;  // PCI base class; compute-only GPUs (0x0302) are of it too

struct Gpu {
  std::tuple<unsigned, unsigned, unsigned, unsigned> address;
  std::optional<unsigned> node;
};

std::vector<Gpu> gpus_of(hwloc_topology_t topology) {
  std::vector<Gpu> gpus;
  for (hwloc_obj_t pci = nullptr; (pci = hwloc_get_next_pcidev(topology, pci)) != nullptr;) {
    const auto& is = pci->attr->pcidev;
    if (is.vendor_id != kNvidia || is.class_id >> 8 != kDisplay) continue;
    Gpu gpu{{is.domain, is.bus, is.dev, is.func}, {}};
    const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, pci);
    // A GPU under the whole machine: the firmware does not say where it is.
    if (near != nullptr && near->nodeset != nullptr && hwloc_bitmap_weight(near->nodeset) == 1)
      gpu.node = static_cast<unsigned>(hwloc_bitmap_first(near->nodeset));
    gpus.push_back(gpu);
  }
  std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.address < b.address; });
  return gpus;
}

// The GPUs that CUDA will count, in its order; nullopt where the list names them otherwise than by number.
std::optional<std::vector<Gpu>> visible(const std::vector<Gpu>& all, const char* list) {
  if (list == nullptr) return all;
  std::vector<Gpu> seen;
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    std::size_t number = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (fault != std::errc() || end != word.data() + word.size()) return std::nullopt;
    if (number >= all.size()) break;  // CUDA stops at the first that does not exist
    seen.push_back(all[number]);
  }
  return seen;
}

// hwloc without its plugins: they would open OpenCL, CUDA and displays in this process, and all that is asked of it is
// in /sys. Its own switch is a variable of the environment, read at the first use.
bool init_without_plugins(hwloc_topology_t* topology) {
  constexpr const char* kPlugins = "HWLOC_PLUGINS_PATH";
  const char* before = std::getenv(kPlugins);
  const std::string kept = before != nullptr ? before : "";
  ::setenv(kPlugins, "/nonexistent", 1);
  const bool done = hwloc_topology_init(topology) == 0;
  if (before != nullptr)
    ::setenv(kPlugins, kept.c_str(), 1);
  else
    ::unsetenv(kPlugins);
  return done;
}

}  // namespace

Placement::Placement() {
  hwloc_topology_t topology = nullptr;
  if (!init_without_plugins(&topology)) {
    why_not_ = "hwloc does not start";
    return;
  }
  topology_.reset(topology);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(topology) != 0) {
    why_not_ = "hwloc cannot read this machine";
    topology_.reset();
    return;
  }
  if (hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) < 2) {
    why_not_ = "one NUMA node";
    return;
  }
  const std::vector<Gpu> all = gpus_of(topology);
  const auto gpus = visible(all, std::getenv("CUDA_VISIBLE_DEVICES"));
  if (!gpus) {
    why_not_ = "several NUMA nodes, but CUDA_VISIBLE_DEVICES does not name GPUs by number";
  } else if (gpus->size() == 1 && all.size() > 1) {
    why_not_ = "several NUMA nodes, but CUDA_VISIBLE_DEVICES leaves one GPU, which may be that of one rank alone";
  } else if (gpus->empty()) {
    why_not_ = "several NUMA nodes, no GPU";
  } else if (std::none_of(gpus->begin(), gpus->end(), [](const Gpu& gpu) { return gpu.node.has_value(); })) {
    why_not_ = "several NUMA nodes, but the system does not say which GPU is on which";
  } else {
    for (const Gpu& gpu : *gpus) gpu_nodes_.push_back(gpu.node);
  }
}

std::optional<unsigned> Placement::node_of_rank(std::uint32_t local_rank) const noexcept {
  return local_rank < gpu_nodes_.size() ? gpu_nodes_[local_rank] : std::nullopt;
}

Placement::Cores Placement::granted_cores(unsigned node) const noexcept {
  Cores cores(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (!cores || !topology_) return Cores(nullptr, &hwloc_bitmap_free);
  const hwloc_obj_t place = hwloc_get_numanode_obj_by_os_index(topology_.get(), node);
  if (place == nullptr || hwloc_get_cpubind(topology_.get(), cores.get(), HWLOC_CPUBIND_PROCESS) != 0)
    return Cores(nullptr, &hwloc_bitmap_free);
  hwloc_bitmap_and(cores.get(), cores.get(), place->cpuset);
  return cores;
}

std::uint32_t Placement::cores(unsigned node) const noexcept {
  const Cores granted = granted_cores(node);
  return granted ? static_cast<std::uint32_t>(hwloc_bitmap_weight(granted.get())) : 0;
}

bool Placement::bind(pid_t producer, unsigned node) const noexcept {
  const Cores granted = granted_cores(node);
  if (!granted || hwloc_bitmap_iszero(granted.get())) return false;
  return hwloc_set_proc_cpubind(topology_.get(), producer, granted.get(), 0) == 0;
}

std::string Placement::describe(std::uint32_t ranks) const {
  if (!why_not_.empty()) return why_not_ + ": nothing is placed";
  std::string text;
  std::optional<unsigned> last;
  for (std::uint32_t rank = 0; rank < std::max(ranks, 1U); ++rank) {
    const std::optional<unsigned> node = node_of_rank(rank);
    const bool same = rank != 0 && node == last;
    if (!same) text += fmt::format("{}rank", text.empty() ? "" : "; ");
    text += fmt::format(" {}", rank);
    last = node;
    const bool ends = rank + 1 == std::max(ranks, 1U) || node_of_rank(rank + 1) != node;
    if (ends) text += node ? fmt::format(" on NUMA node {}", *node) : std::string(" on no known NUMA node");
  }
  return text;
}

}  // namespace feedring
