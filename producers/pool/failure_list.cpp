// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/failure_list.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "runtime/contract.hpp"

namespace feedring {
namespace {

// After this many different files the warnings stop; the list goes on.
constexpr std::size_t kMaxWarnings = 100;

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
  Heard& heard = heard_[{number("ring"), number("slot")}];
  if (heard.turn != number("turn")) heard = {number("turn"), {}};
  return !heard.rows.insert(number("row")).second;
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
