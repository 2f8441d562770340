// SPDX-License-Identifier: Apache-2.0
// A received control message. Apart from control.hpp, because it pulls in the whole JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/memfd.hpp"

namespace feedring {

struct Message {
  nlohmann::json body;
  std::vector<UniqueFd> descriptors;

  /// Descriptor `index`, moved out. Throws Error(kRefused) where the sender promised more than it sent.
  [[nodiscard]] UniqueFd take(std::size_t index);
  /// The same for shared memory that is to be mapped. Throws Error(kRefused) where its size is not sealed: whoever else
  /// holds it could shrink it and so turn our next access into SIGBUS.
  [[nodiscard]] UniqueFd take_memory(std::size_t index);
};

/// {"ok": false, "kind": …, "error": …} of an Error, and back: an error crosses the socket with its kind.
class Error;
[[nodiscard]] nlohmann::json error_reply(const Error& error);
/// Throws the Error that `reply` carries; returns where reply["ok"] is true.
void throw_if_error(const nlohmann::json& reply);

}  // namespace feedring
