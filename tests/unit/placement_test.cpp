// SPDX-License-Identifier: Apache-2.0
// Placement on machines that hwloc is told about: two NUMA nodes of one core each, GPUs as their PCI lines say.
#include "producers/pool/placement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/child.hpp"
#include "tests/support/numa_machine.hpp"

namespace feedring {
namespace {

using test::NumaMachine;
using Nodes = std::vector<std::optional<unsigned>>;

Nodes nodes_of(const Placement& placement, std::uint32_t ranks) {
  Nodes nodes;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) nodes.push_back(placement.node_of_rank(rank));
  return nodes;
}

TEST(Placement, PutsARankOnTheNodeOfItsGpu) {
  const NumaMachine machine({.node0 = {NumaMachine::nvidia("0000:01:00.0")},
                             .node1 = {NumaMachine::nvidia("0000:81:00.0"), NumaMachine::nvidia("0000:82:00.0")}});
  const Placement placement;
  EXPECT_EQ(nodes_of(placement, 4), (Nodes{0, 1, 1, {}})) << "a rank without a GPU of its own may use any";
  EXPECT_EQ(placement.describe(4), "rank 0 on NUMA node 0; rank 1 2 on NUMA node 1; rank 3 on no known NUMA node");
}

TEST(Placement, CountsGpusByTheirAddressWhereverTheyStandInTheTree) {
  const NumaMachine machine(
      {.node0 = {NumaMachine::nvidia("0000:c1:00.0")}, .node1 = {NumaMachine::nvidia("0000:02:00.0")}});
  EXPECT_EQ(nodes_of(Placement(), 2), (Nodes{1, 0}));
}

TEST(Placement, KnowsNvidiaGpusOnly) {
  const NumaMachine machine({.node0 = {"0000:01:00.0 0300 [1002:744c]", "0000:02:00.0 0200 [10de:a2d6]"},
                             .node1 = {NumaMachine::nvidia("0000:81:00.0")}});
  EXPECT_EQ(nodes_of(Placement(), 2), (Nodes{1, {}})) << "a GPU of AMD's and a network card of NVIDIA's do not count";
}

TEST(Placement, FollowsTheVisibleDevices) {
  const NumaMachine machine(
      {.node0 = {NumaMachine::nvidia("0000:01:00.0")}, .node1 = {NumaMachine::nvidia("0000:81:00.0")}});
  const auto visible = [](const char* list) {
    const test::Environment set("CUDA_VISIBLE_DEVICES", list);
    return nodes_of(Placement(), 2);
  };
  EXPECT_EQ(visible("1,0"), (Nodes{1, 0}));
  EXPECT_EQ(visible("1"), (Nodes{{}, {}})) << "perhaps the list of one rank";
  EXPECT_EQ(visible("0,1,7,0"), (Nodes{0, 1})) << "the list ends where a GPU does not exist";
  EXPECT_EQ(visible(""), (Nodes{{}, {}}));
  EXPECT_EQ(visible("GPU-8f3a"), (Nodes{{}, {}}));
  EXPECT_EQ(visible("-1"), (Nodes{{}, {}}));
}

TEST(Placement, SaysWhyNothingIsPlaced) {
  {
    const NumaMachine machine({.node0 = {}, .node1 = {}});
    EXPECT_EQ(Placement().describe(2), "several NUMA nodes, no GPU: nothing is placed");
  }
  {
    const test::Environment synthetic("HWLOC_SYNTHETIC", "node:1 pu:2");
    EXPECT_EQ(Placement().describe(2), "one NUMA node: nothing is placed");
  }
  const test::Environment missing("HWLOC_XMLFILE", "/nowhere.xml");
  EXPECT_FALSE(Placement().node_of_rank(0));
}

// Plugins open OpenCL, CUDA and displays.
TEST(Placement, LoadsNoPluginOfHwloc) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("feedring-plugins-{}", ::getpid());
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "hwloc_probe.so") << "no library\n";
  const test::Environment path("HWLOC_PLUGINS_PATH", folder.string());
  const test::Environment verbose("HWLOC_PLUGINS_VERBOSE", "1");
  const auto said = [](const auto& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said([] { (void)Placement(); }).find("probe"), std::string::npos);
  EXPECT_EQ(std::getenv("HWLOC_PLUGINS_PATH"), folder.string()) << "commands that are started get it as it was";
  const std::string otherwise = said([] {
    hwloc_topology_t topology = nullptr;
    hwloc_topology_init(&topology);
    hwloc_topology_destroy(topology);
  });
  EXPECT_NE(otherwise.find("probe"), std::string::npos) << otherwise;
  std::filesystem::remove_all(folder);
}

TEST(Placement, KeepsAProcessOnTheCoresOfANode) {
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  if (!CPU_ISSET(0, &mine) || !CPU_ISSET(1, &mine)) GTEST_SKIP() << "cores 0 and 1 are not granted here";
  const NumaMachine machine(
      {.node0 = {NumaMachine::nvidia("0000:01:00.0")}, .node1 = {NumaMachine::nvidia("0000:81:00.0")}});
  const Placement placement;
  EXPECT_EQ(placement.cores(0), 1U);
  EXPECT_EQ(placement.cores(2), 0U);
  const test::Child child([] {
    ::pause();
    return 0;
  });
  for (const unsigned node : {1U, 0U}) {
    ASSERT_TRUE(placement.bind(child.pid(), node));
    cpu_set_t its;
    ASSERT_EQ(::sched_getaffinity(child.pid(), sizeof its, &its), 0);
    EXPECT_EQ(CPU_COUNT(&its), 1);
    EXPECT_TRUE(CPU_ISSET(node, &its));
  }
  EXPECT_FALSE(placement.bind(child.pid(), 2)) << "no such node";
}

}  // namespace
}  // namespace feedring
