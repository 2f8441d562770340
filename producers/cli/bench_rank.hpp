// SPDX-License-Identifier: Apache-2.0
// One rank of a benchmark: a feedring-drain process and the two pipes to it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "producers/pool/asio.hpp"
#include "runtime/memfd.hpp"

namespace feedring::cli {

class BenchRank {
 public:
  /// Starts feedring-drain with `arguments`. `heard` gets each message it prints; `ended` its exit code, where it ended
  /// before its result. Throws Error(kInternal). The object stays where it is.
  BenchRank(boost::asio::io_context& io, const std::vector<std::string>& arguments,
            std::function<void(BenchRank&, const nlohmann::json&)> heard, std::function<void(int)> ended);
  /// Ends the process if it still runs.
  ~BenchRank();
  BenchRank(const BenchRank&) = delete;
  BenchRank& operator=(const BenchRank&) = delete;

  /// Lets its window begin. False: it is gone.
  [[nodiscard]] bool go();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  bool first = false;                    ///< it has its first batch
  std::optional<nlohmann::json> result;  ///< its last message

 private:
  void listen();

  pid_t pid_ = 0;
  UniqueFd in_;
  boost::asio::posix::stream_descriptor out_;
  std::string buffer_;
  std::function<void(BenchRank&, const nlohmann::json&)> heard_;
  std::function<void(int)> ended_;
};

}  // namespace feedring::cli
