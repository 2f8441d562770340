// SPDX-License-Identifier: Apache-2.0
// File names are bytes, JSON strings are Unicode. A name that is UTF-8 is written as it is. For any other name,
// `"path"` holds it with U+FFFD in the place of what is not UTF-8, for reading, and a second member `"path_hex"` holds
// its exact bytes in hexadecimal, for programs; strict parsers take both.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace feedring {

/// Well-formed as in Unicode 15, table 3-7: no surrogates, no overlong forms, nothing above U+10FFFF.
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// `bytes` with each maximal ill-formed part replaced by U+FFFD.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

/// Writes object[key], and object[key + "_hex"] where `bytes` is not UTF-8. Json is nlohmann::json or ordered_json.
template <class Json>
void put_bytes(Json& object, const std::string& key, std::string_view bytes);

/// What put_bytes wrote; nullopt where object[key] is absent or no string, or the hexadecimal form is malformed.
[[nodiscard]] std::optional<std::string> get_bytes(const nlohmann::json& object, const std::string& key);

}  // namespace feedring
