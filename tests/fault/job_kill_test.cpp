// SPDX-License-Identifier: Apache-2.0
// The whole job is killed with SIGKILL, fifty times, at any moment: processes, shared memory and its descriptors are as
// before.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <random>

#include "tests/fault/scene.hpp"

namespace feedring::test {
namespace {

namespace fs = std::filesystem;

/// What a job could leave behind on this machine: files in /dev/shm, and rings of its feed that somebody holds.
std::multiset<std::string> traces(const std::string& feed) {
  std::multiset<std::string> found;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/dev/shm", none)) {
    if (entry.path().native().find("feedring") != std::string::npos) found.insert(entry.path());
  }
  for (const auto& process : fs::directory_iterator("/proc", none)) {
    if (std::isdigit(static_cast<unsigned char>(process.path().filename().native()[0])) == 0) continue;
    for (const auto& descriptor : fs::directory_iterator(process.path() / "fd", none)) {
      const std::string target = fs::read_symlink(descriptor.path(), none);
      if (target.find("memfd:feedring-" + feed) != std::string::npos) found.insert(target);
    }
  }
  return found;
}

class Job : public Scene {
 protected:
  /// Everybody below `parent`.
  static void collect(pid_t parent, std::set<pid_t>& all) {
    for (const ProcessInfo& child : children_of(parent)) {
      if (all.insert(child.pid).second) collect(child.pid, all);
    }
  }
};

TEST_F(Job, ThatIsKilledFiftyTimesLeavesNothing) {
  make_pictures(40);
  // A name of its own, so that other tests' memory is not taken for this one's.
  const std::string feed = "job" + std::to_string(::getpid());
  write_file(folder() / "job.toml", "[feed." + feed + "]\ndata = \"data\"\nbatch_size = 4\nslots = 3\n" +
                                        "transform = [ { name = \"Resize\", size = [24, 24] } ]\n");
  const std::string config = (folder() / "job.toml").string();
  std::mt19937 random(random_seed());
  const std::multiset<std::string> before = traces(feed);
  int trained = 0;
  std::size_t most = 0;
  for (int round = 0; round < 50; ++round) {
    Start start;
    start.own_group = true;
    Program job = feedring({"run", "-c", config, "--producers", "2", "--nproc-per-node", "2", "--", trainer_program(),
                            "--feed", feed, "--epochs", "100000", "--pause-ms", "1"},
                           start);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    most = std::max(most, traces(feed).size());
    if (round % 2 == 0) {
      // As a scheduler does it: every process of the job, one after the other, in no order.
      std::set<pid_t> all = {job.pid()};
      collect(job.pid(), all);
      std::vector<pid_t> order(all.begin(), all.end());
      std::shuffle(order.begin(), order.end(), random);
      for (const pid_t pid : order) ::kill(pid, SIGKILL);
    }
    job.kill_group(SIGKILL);
    job.wait();
    trained += events(job, "batch").empty() ? 0 : 1;
    ASSERT_TRUE(eventually(
        [] {
          while (::waitpid(-1, nullptr, WNOHANG) > 0) {
          }
          return children_of(::getpid()).empty();
        },
        kGoneWithin))
        << "round " << round;
    ASSERT_EQ(traces(feed), before) << "round " << round;
  }
  EXPECT_GE(most, 2U) << "its rings were never seen";
  EXPECT_GE(trained, 10) << "killed before there was anything to leave";
}

}  // namespace
}  // namespace feedring::test
