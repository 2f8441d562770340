// SPDX-License-Identifier: Apache-2.0
// Where our own programs lie, seen from the running command; the build tree mirrors the installed one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "producers/config/feed_spec.hpp"

namespace feedring::cli {

/// …/libexec/feedring/NAME beside the …/bin that this command runs from, whether or not it is there.
[[nodiscard]] std::filesystem::path libexec_path(const std::string& name);
/// The same. Throws Error(kInternal) where it is missing.
[[nodiscard]] std::filesystem::path libexec_program(const std::string& name);

/// What a pool of this configuration starts as its producers: program and first arguments.
[[nodiscard]] std::vector<std::string> producer_command(const Config& config);

/// The running command itself.
[[nodiscard]] std::filesystem::path own_program();

}  // namespace feedring::cli
