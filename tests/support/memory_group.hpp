// SPDX-License-Identifier: Apache-2.0
// A memory control group with a limit, for programs that a test starts.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace feedring::test {

class MemoryGroup {
 public:
  /// Version 1 or 2, whichever hierarchy is mounted with the memory controller and can be written.
  explicit MemoryGroup(std::uint64_t limit) {
    const std::string name = "feedring-test-" + std::to_string(::getpid());
    for (const auto& [root, file] :
         {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code error;
      const std::filesystem::path folder = std::filesystem::path(root) / name;
      if (!std::filesystem::exists(std::filesystem::path(root) / "cgroup.procs", error)) continue;
      if (!std::filesystem::create_directory(folder, error)) continue;
      std::ofstream(folder / file) << limit << std::flush;
      std::uint64_t set = 0;
      if (std::ifstream(folder / file) >> set && set == limit) {
        folder_ = folder;
        return;
      }
      ::rmdir(folder.c_str());
    }
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  ~MemoryGroup() {
    // Its last process may still be on its way out.
    for (int i = 0; i < 100 && !folder_.empty() && ::rmdir(folder_.c_str()) != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  [[nodiscard]] bool is_there() const { return !folder_.empty(); }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::uint64_t number(const char* file) const {
    std::uint64_t value = 0;
    std::ifstream(folder_ / file) >> value;
    return value;
  }
  /// Puts the calling process into the group; system calls alone.
  [[nodiscard]] bool enter(const char* procs) const {
    const int fd = ::open(procs, O_WRONLY | O_CLOEXEC);
    const bool entered = fd >= 0 && ::write(fd, "0", 1) == 1;
    ::close(fd);
    return entered;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace feedring::test
