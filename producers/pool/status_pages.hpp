// SPDX-License-Identifier: Apache-2.0
// A pool's status in pages: with many rings or producers it is longer than a control message may be.
//
//   command -> supervisor   {"op": "status", "from": N}   absent: 0
//   supervisor -> command   {"ok": true, …, "more": M}    the entries of the lists from N up to, without, M; no "more":
//                                                         the rest
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>

namespace feedring {

/// N of a request; 0 where it says none. Throws Error(kRefused) where it is no natural number.
[[nodiscard]] std::uint64_t first_entry(const nlohmann::json& request);

/// The page of `status` whose text has at most `most_bytes`, from entry `from` on: its lists count as one, one behind
/// the other, and what is no list is on every page. A page holds one entry at least, where any is left.
[[nodiscard]] nlohmann::json status_page(nlohmann::json status, std::uint64_t from, std::size_t most_bytes);

/// The whole, from pages that `ask(from)` brings. Counters in it may be of different moments. Throws Error(kRefused)
/// where the pages lead nowhere.
[[nodiscard]] nlohmann::json join_status(const std::function<nlohmann::json(std::uint64_t from)>& ask);

}  // namespace feedring
