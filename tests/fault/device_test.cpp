// SPDX-License-Identifier: Apache-2.0
// Ranks whose batches go to a device: the host that plays one, CUDA's code on a stand-in for its runtime, and a GPU
// where there is one.
#include <gmock/gmock.h>

#include <feedring/cuda.hpp>
#include <fstream>
#include <random>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

struct Kind {
  const char* name;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment = {};
  bool needs_gpu = false;
  friend std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }
};

std::string maps_of(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/maps");
  return {std::istreambuf_iterator<char>(stream), {}};
}

class Devices : public Scene, public testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    Scene::SetUp();
    if (!GetParam().needs_gpu) return;
    if (const std::string why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] Program rank(std::vector<std::string> arguments) const {
    const Kind& kind = GetParam();
    arguments.insert(arguments.end(), kind.arguments.begin(), kind.arguments.end());
    Start start;
    start.environment = kind.environment;
    return trainer(std::move(arguments), start);
  }
  using Pixels = std::map<std::pair<std::uint64_t, std::uint64_t>, json>;  // by epoch and step
  static Pixels pixels_of(const Program& program) {
    Pixels pixels;
    for (const json& batch : events(program, "batch"))
      pixels[{batch.at("epoch"), batch.at("step")}] = {batch.at("pixels"), batch.at("ids"), batch.at("labels")};
    return pixels;
  }
};

TEST_P(Devices, ARankThatIsKilledWithCopiesUnderWayTakesNothingWithIt) {
  make_pictures(80);
  start_pool({"-c", configure("seed = 5"), "--producers", "2", "--ranks", "1"});
  Program plain = trainer({"--epochs", "2"});
  ASSERT_EQ(plain.wait(), 0) << plain.err();
  const Pixels expected = pixels_of(plain);
  ASSERT_EQ(expected.size(), 40U);
  std::mt19937 random(random_seed());
  std::size_t before_death = 0;
  for (int death = 0; death < 8; ++death) {
    Program rank = this->rank({"--epochs", "2"});
    ASSERT_TRUE(eventually([&] { return !events(rank, "attached").empty(); })) << rank.err();
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
    ::kill(rank.pid(), SIGKILL);
    (void)rank.wait();
    for (const auto& [place, pixels] : pixels_of(rank)) {
      ++before_death;
      ASSERT_EQ(pixels, expected.at(place)) << "epoch " << place.first << ", step " << place.second;
    }
  }
  std::cout << before_death << " batches before 8 deaths\n";
  Program last = rank({"--epochs", "2"});
  ASSERT_EQ(last.wait(), 0) << last.err();
  EXPECT_EQ(pixels_of(last), expected);
  stop_pool();
}

TEST_P(Devices, ProducersLoadNoCuda) {
  make_pictures(80);
  start_pool({"-c", configure(), "--producers", "2", "--ranks", "1"});
  Program rank = this->rank({"--batches", "20", "--hold"});
  ASSERT_TRUE(eventually([&] { return events(rank, "batch").size() == 20; })) << rank.err();
  EXPECT_EQ(maps_of(rank.pid()).find("cudart") != std::string::npos, GetParam().arguments[1] != "host");
  for (const json& producer : status().at("producers")) {
    const std::string maps = maps_of(producer.at("pid"));
    EXPECT_THAT(maps, HasSubstr("feedring-producer"));
    EXPECT_THAT(maps, Not(HasSubstr("libcuda")));
    EXPECT_THAT(maps, Not(HasSubstr("cudart")));
  }
  ::kill(rank.pid(), SIGTERM);
  EXPECT_EQ(rank.wait(), 0) << rank.err();
  stop_pool();
}

const Kind kKinds[] = {
    {.name = "host", .arguments = {"--device", "host"}},
    {.name = "fake_cuda",
     .arguments = {"--device", "cuda:0", "--cudart", FEEDRING_FAKE_CUDART},
     .environment = {{"FAKE_CUDART_DELAY_US", "2000"}}},
    {.name = "gpu", .arguments = {"--device", "cuda:0"}, .needs_gpu = true},
};
INSTANTIATE_TEST_SUITE_P(Killed, Devices, testing::ValuesIn(kKinds));

}  // namespace
}  // namespace feedring::test
