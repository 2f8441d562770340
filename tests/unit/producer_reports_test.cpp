// SPDX-License-Identifier: Apache-2.0
// A producer decodes files of strangers. What it says on its channel may be anything, and the pool goes on.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "dataset_files.hpp"
#include "producers/pool/producer_set.hpp"

namespace feedring {
namespace {

TEST(ProducerReports, ThatMakeNoSenseDoNotEndThePool) {
  const DatasetFiles files;
  const std::filesystem::path program = files.root() / "producer";
  files.text("producer",
             "#!/bin/bash\n"
             "printf 'no JSON at all' >&3\n"
             "printf '{\"op\":7}' >&3\n"
             "printf '{\"op\":\"failure\",\"row\":\"x\"}' >&3\n"
             "printf '{\"op\":\"failure\",\"row\":5}' >&3\n"
             "exec sleep 60\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  boost::asio::io_context io;
  const std::vector<NodeFeed> feeds;
  NodeStores stores;
  const Rings rings;
  std::vector<std::uint32_t> heard;
  const Placement placement;
  ProducerSet set(io, {{program.string()}, 300}, feeds, stores, rings, placement,
                  {[&](const nlohmann::json& failure) { heard.push_back(failure.value("row", 0U)); },
                   [](ErrorKind, const std::string&) {}});
  set.start(1);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (heard.empty() && std::chrono::steady_clock::now() < end) io.run_one_for(std::chrono::milliseconds(50));
  EXPECT_EQ(heard, std::vector<std::uint32_t>{5});
  set.stop();
}

}  // namespace
}  // namespace feedring
