// SPDX-License-Identifier: Apache-2.0
// Where our own programs lie, seen from the running command; the build tree mirrors the installed one.
#pragma once

#include <filesystem>
#include <string>

namespace feedring::cli {

/// …/libexec/feedring/NAME beside the …/bin that this command runs from. Throws Error(kInternal) where it is missing.
[[nodiscard]] std::filesystem::path libexec_program(const std::string& name);

/// The running command itself.
[[nodiscard]] std::filesystem::path own_program();

}  // namespace feedring::cli
