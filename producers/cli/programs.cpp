// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/programs.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>

namespace feedring::cli {

std::filesystem::path own_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

std::filesystem::path libexec_path(const std::string& name) {
  return own_program().parent_path().parent_path() / "libexec" / "feedring" / name;
}

std::filesystem::path libexec_program(const std::string& name) {
  std::filesystem::path program = libexec_path(name);
  if (!std::filesystem::exists(program)) {
    throw Error(ErrorKind::kInternal, fmt::format("{} is missing: the installation is incomplete", program.string()));
  }
  return program;
}

std::vector<std::string> producer_command(const Config& config) {
  if (!config.pool.producer.empty()) return config.pool.producer;
  return {libexec_program("feedring-producer").string()};
}

}  // namespace feedring::cli
