// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/failure_list.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <iterator>

#include "runtime/contract.hpp"

namespace feedring {
namespace {

// After this many different files the warnings stop; the list goes on.
constexpr std::size_t kMaxWarnings = 100;
// Of so many turns of a slot it is known what was reported.
constexpr std::size_t kTurns = 4;
// So many rows are remembered at most: more than any node has in its rings, less than a producer that makes numbers up
// could fill the supervisor's memory with.
constexpr std::size_t kMaxRemembered = 1'000'000;

const char* word_of(int outcome) {
  switch (static_cast<contract::RowStatus>(outcome)) {
    case contract::RowStatus::kReplaced: return "replaced";
    case contract::RowStatus::kZeroed: return "zeroed";
    default: return "raised";
  }
}

}  // namespace

FailureList::FailureList(const std::optional<std::filesystem::path>& file) {
  if (!file) return;
  file_.open(*file, std::ios::app);
  if (!file_) {
    throw Error(ErrorKind::kUsage,
                fmt::format("the list of failures {} cannot be written: {}", file->string(), std::strerror(errno)));
  }
}

bool FailureList::heard_before(const nlohmann::json& failure) {
  const auto number = [&](const char* key) { return failure.value(key, 0U); };
  if (++remembered_ > kMaxRemembered) {
    heard_.clear();
    remembered_ = 1;
  }
  std::deque<Heard>& turns = heard_[{number("ring"), number("slot")}];
  auto heard = std::find_if(turns.begin(), turns.end(), [&](const Heard& h) { return h.turn == number("turn"); });
  if (heard == turns.end()) {
    heard = turns.insert(turns.end(), {number("turn"), {}});
    // A report of a turn before may still be on its way in another producer's channel.
    if (turns.size() > kTurns) {
      turns.pop_front();
      heard = std::prev(turns.end());
    }
  }
  return !heard->rows.insert(number("row")).second;
}

void FailureList::add(const nlohmann::json& failure) {
  if (heard_before(failure)) return;
  ++count_;
  nlohmann::json line = failure;
  for (const char* key : {"op", "ring", "slot", "turn", "row"}) line.erase(key);
  line["outcome"] = word_of(failure.value("outcome", 0));
  if (file_.is_open()) {
    file_ << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n' << std::flush;
  }
  const std::string path = failure.value("path", "?");
  if (warned_.size() < kMaxWarnings && warned_.insert(path).second) {
    spdlog::warn("feed '{}': {} (index {}, {} bytes) {}", failure.value("feed", "?"), path,
                 failure.value("index", std::uint64_t{0}), failure.value("bytes", std::uint64_t{0}),
                 failure.value("reason", "?"));
    if (warned_.size() == kMaxWarnings) spdlog::warn("{} files have failed; later ones are listed only", kMaxWarnings);
  }
}

}  // namespace feedring
