// SPDX-License-Identifier: Apache-2.0
// The control socket: one JSON object a message, descriptors beside it (SCM_RIGHTS), over a unix SOCK_SEQPACKET socket.
// Only set-up, status and endings travel here; batches never do.
//
//   rank -> supervisor      {"op": "attach", …}  -> {"ok": true, …} + ring, pool, supervisor's pidfd
//   rank -> supervisor      {"op": "detach", …}  -> {"ok": true}
//   rank -> supervisor      {"op": "episode", …} -> {"ok": true, "episode"}: which samples one has, without pixels
//   rank -> supervisor      {"op": "data", …}    -> {"ok": true, …} + pool, index, list: for an episode's pixels
//   command -> supervisor   {"op": "status", "from": N} (in pages: status_pages.hpp) | {"op": "stop"}
//   run -> another's pool   {"op": "join"} -> {"ok": true, "pid"}: keeps that pool until the connection ends
//   supervisor -> producer  {"op": "pool" | "feed" | "ring", …} + the segment
//   producer -> supervisor  {"op": "ready"} | {"op": "failure", …}
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/memfd.hpp"

namespace feedring {

struct Message;

/// Bytes of a message's text at most; below the default socket buffer of 208 KiB.
inline constexpr std::size_t kMaxMessage = std::size_t{128} * 1024;

/// Where a pool listens: the path of a socket file where it begins with '/', else an abstract name, which leaves
/// nothing behind and is private to a network namespace (pool_name.hpp makes them).
using PoolAddress = std::string;

/// A socket that listens at `address`, or empty where somebody else holds the name (the election was lost). A socket
/// file that a killed pool left is replaced, any other file is not. Throws Error(kInternal | kUsage), and kRefused for
/// a socket file in a folder that others may write to.
[[nodiscard]] UniqueFd listen_at(const PoolAddress& address);

/// Removes the socket file of an address that is a path; the listener is closed.
void forget_address(const PoolAddress& address) noexcept;

/// Connects; empty where nobody listens, or nobody accepts for a second although the queue is full. Throws
/// Error(kRefused) where the listener belongs to another user.
[[nodiscard]] UniqueFd connect_to(const PoolAddress& address);

/// Waits up to `timeout_ms` for room where the socket is non-blocking and the peer is behind. Throws Error(kPoolGone)
/// when the peer is gone, Error(kDeadline) when it does not read, Error(kInternal) else.
void send_message(int socket, const nlohmann::json& body, const std::vector<int>& descriptors = {}, int timeout_ms = 0);

/// The next message; nullopt when none came within `timeout_ms` (-1: wait for ever). Throws Error(kPoolGone) when the
/// peer closed, Error(kRefused) when what came is no message of ours.
[[nodiscard]] std::optional<Message> receive_message(int socket, int timeout_ms);

}  // namespace feedring
