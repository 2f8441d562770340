// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/dump_options.hpp"

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/cli/numbers.hpp"

namespace feedring::cli {

Steps parse_steps(const std::string& text, std::uint64_t all) {
  if (text.empty()) return {0, all};
  const std::size_t colon = text.find(':');
  const auto bound = [&](const std::string& number, std::uint64_t fallback) -> std::optional<std::uint64_t> {
    if (number.empty()) return fallback;
    const auto value = number_of<std::uint64_t>(number);
    return value ? std::optional(std::min(*value, all)) : std::nullopt;
  };
  const auto begin = bound(text.substr(0, colon), 0);
  const auto end = colon == std::string::npos ? std::nullopt : bound(text.substr(colon + 1), all);
  if (!begin || !end) throw Error(ErrorKind::kUsage, "--steps is \"" + text + "\", expected A:B, such as 0:10");
  return {*begin, *end};
}

}  // namespace feedring::cli
