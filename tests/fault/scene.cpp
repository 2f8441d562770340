// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/scene.hpp"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "runtime/control.hpp"
#include "runtime/message.hpp"
#include "tests/support/jpeg_writer.hpp"

namespace feedring::test {
namespace fs = std::filesystem;

void Scene::SetUp() {
  // Whoever loses its parent becomes our child, where TearDown() finds it.
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  std::string pattern = (fs::temp_directory_path() / "feedring-fault-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  fs::create_directories(folder_ / "tmp");
  static int number = 0;
  pool_ = "feedring-fault/" + std::to_string(::getpid()) + '.' + std::to_string(++number);
}

void Scene::TearDown() {
  const auto nobody_left = [] {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    return children_of(::getpid()).empty();
  };
  if (!eventually(nobody_left, kGoneWithin)) {
    for (const ProcessInfo& child : children_of(::getpid())) {
      ADD_FAILURE() << child.name << " (" << child.pid << ", state " << child.state << ") was left behind";
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
    }
  }
  for (const std::string& address : {pool(), other_pool()}) {
    EXPECT_TRUE(listen_at(address)) << "the pool address " << address << " is still taken";
  }
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/dev/shm", none)) {
    EXPECT_EQ(entry.path().native().find("feedring"), std::string::npos) << entry.path() << " was left behind";
  }
  for (const auto& entry : fs::directory_iterator(folder_ / "tmp")) ADD_FAILURE() << entry.path() << " was left behind";
  fs::remove_all(folder_);
}

std::string Scene::jpeg(int width, int height, unsigned seed) {
  JpegShape shape;
  shape.width = width;
  shape.height = height;
  shape.seed = seed;
  const std::vector<std::uint8_t> bytes = write_jpeg(shape);
  return {bytes.begin(), bytes.end()};
}

void Scene::write_file(const fs::path& file, const std::string& bytes) const {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

void Scene::make_pictures(int count, int classes, int width, int height) const {
  std::array<std::string, 5> kinds;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i] = jpeg(width + 8 * static_cast<int>(i), height, static_cast<unsigned>(i + 1));
  }
  for (int i = 0; i < count; ++i) {
    const std::string folder(1, static_cast<char>('a' + i % classes));
    write_file(data() / folder / (std::to_string(i / classes) + ".jpg"),
               kinds[static_cast<std::size_t>(i) % kinds.size()]);
  }
}

std::string Scene::configure(const std::string& train, const std::string& pool, const std::string& name) {
  std::string text = "[pool]\n" + pool + "\n[feed.train]\ndata = \"data\"\n" + train + '\n';
  const auto otherwise = [&](const std::string& key, const std::string& value) {
    if (train.find(key) == std::string::npos) text += key + " = " + value + '\n';
  };
  otherwise("batch_size", "4");
  otherwise("slots", "3");
  otherwise("transform", "[ { name = \"RandomResizedCrop\", size = 24 }, { name = \"RandomHorizontalFlip\" } ]");
  const fs::path file = folder_ / name;
  std::ofstream(file) << text;
  return file.string();
}

Start Scene::prepared(std::string program, std::vector<std::string> arguments, Start start) const {
  // What a test put there goes in front: unshare, setpriv, …
  start.command.push_back(std::move(program));
  start.command.insert(start.command.end(), arguments.begin(), arguments.end());
  start.environment.emplace("FEEDRING_POOL", pool_);
  start.environment.emplace("TMPDIR", (folder_ / "tmp").string());
  start.environment.emplace("XDG_RUNTIME_DIR", (folder_ / "tmp").string());
  if (start.folder.empty()) start.folder = folder_.string();
  return start;
}

Program Scene::feedring(std::vector<std::string> arguments, Start start) const {
  return Program(prepared(FEEDRING_COMMAND, std::move(arguments), std::move(start)));
}

Program Scene::ran(std::vector<std::string> arguments, Start start) const {
  Program program = feedring(std::move(arguments), std::move(start));
  program.wait();
  return program;
}

Program Scene::trainer(std::vector<std::string> arguments, Start start) const {
  return Program(prepared(trainer_program(), std::move(arguments), std::move(start)));
}

pid_t Scene::start_pool(std::vector<std::string> arguments, Start start_options) {
  arguments.insert(arguments.begin(), {"start", "--address", pool_});
  if (std::find(arguments.begin(), arguments.end(), "--grace") == arguments.end()) {
    // A pool runs in a session of its own: should the test itself be killed, it ends all the same.
    arguments.insert(arguments.end(), {"--grace", "60"});
  }
  Program start = ran(std::move(arguments), std::move(start_options));
  EXPECT_EQ(start.wait(), 0) << start.err();
  EXPECT_EQ(start.out(), "FEEDRING_POOL=" + pool_ + '\n');
  return status().value("pid", -1);
}

void Scene::stop_pool() {
  Program stop = ran({"stop"});
  EXPECT_EQ(stop.wait(), 0) << stop.err();
}

nlohmann::json Scene::status() const {
  const UniqueFd socket = connect_to(pool_);
  EXPECT_TRUE(socket) << "no pool listens";
  if (!socket) return nlohmann::json::object();
  send_message(socket.get(), {{"op", "status"}});
  auto reply = receive_message(socket.get(), 30'000);
  EXPECT_TRUE(reply) << "the pool does not answer";
  return reply ? reply->body : nlohmann::json::object();
}

bool Scene::pool_is_gone() const {
  // Producers of a supervisor that died are our children now.
  return listen_at(pool_) && producers_of(::getpid()).empty();
}

std::map<std::uint64_t, std::uint64_t> Scene::dumped(const std::string& config, int epoch, int world) const {
  Program dump =
      ran({"dump", "-c", config, "--epoch", std::to_string(epoch), "--world", std::to_string(world), "--json"});
  EXPECT_EQ(dump.wait(), 0) << dump.err();
  std::map<std::uint64_t, std::uint64_t> samples;
  for (const auto& line : dump.lines()) {
    if (line.at("valid") != 0) samples[line.at("ordinal")] = line.at("index");
  }
  return samples;
}

std::vector<nlohmann::json> events(const Program& program, const std::string& kind) {
  std::vector<nlohmann::json> found;
  for (auto& line : program.lines()) {
    if (line.value("event", "") == kind) found.push_back(std::move(line));
  }
  return found;
}

unsigned random_seed() {
  const char* given = std::getenv("FEEDRING_TEST_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10))
                                     : static_cast<unsigned>(Clock::now().time_since_epoch().count());
  std::cout << "FEEDRING_TEST_SEED=" << seed << '\n';
  return seed;
}

}  // namespace feedring::test
