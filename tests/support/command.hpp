// SPDX-License-Identifier: Apache-2.0
// Runs the built command and catches what it writes.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedring::test {

struct Finished {
  int code = -1;  ///< exit status, or 128 + the signal that ended it
  std::string out;
  std::string err;

  /// Each line of `out` as JSON.
  [[nodiscard]] std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> values;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) values.push_back(nlohmann::json::parse(line));
    return values;
  }
};

/// Runs FEEDRING_COMMAND with these arguments and, beside the test's own, these variables ("NAME=value").
inline Finished run_command(const std::vector<std::string>& arguments, const std::vector<std::string>& variables = {},
                            const std::string& folder = "") {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(out[1], 1);
    dup2(err[1], 2);
    unsetenv("FEEDRING_CONFIG");
    unsetenv("FEEDRING_LOG");
    for (const std::string& variable : variables) putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> argv{const_cast<char*>("feedring")};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(FEEDRING_COMMAND, argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  const auto drain = [](int end, std::string& into) {
    std::array<char, 65536> buffer{};
    for (ssize_t got; (got = read(end, buffer.data(), buffer.size())) > 0;)
      into.append(buffer.data(), static_cast<std::size_t>(got));
    close(end);
  };
  Finished finished;
  std::thread errors([&] { drain(err[0], finished.err); });
  drain(out[0], finished.out);
  errors.join();
  int status = 0;
  waitpid(child, &status, 0);
  finished.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return finished;
}

}  // namespace feedring::test
