// SPDX-License-Identifier: Apache-2.0
#include "consumers/cursor.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <utility>

namespace feedring {
namespace {

constexpr std::uint64_t kStateVersion = 1;

// Refuses a state of something else, with both values.
void demand_equal(const nlohmann::json& state, const char* key, const std::string& here, const char* what) {
  const auto saved = state.at(key).get<std::string>();
  if (saved == here) return;
  throw Error(ErrorKind::kRefused,
              fmt::format("the state was saved for another {}: its {} is {}, this feed's is {}; load it "
                          "where data, sampler and transform are as they were, or start anew",
                          what, key, saved, here));
}

// Not get<std::uint64_t>() alone, which makes 2^64 - 1 of -1 and 1 of 1.5.
std::uint64_t natural(const nlohmann::json& state, const char* key) {
  const auto& value = state.at(key);
  if (!value.is_number_unsigned()) {
    throw Error(ErrorKind::kUsage, fmt::format("this is no state of a feed: {} is no natural number", key));
  }
  return value.get<std::uint64_t>();
}

}  // namespace

Cursor::Cursor(CursorSpec spec)
    : spec_(std::move(spec)),
      whole_(spec_.samples, spec_.world, spec_.batch, spec_.remainder),
      current_(whole_),
      seed_(spec_.seed),
      steps_(whole_.steps()) {
  whole_.demand_steps();
}

Schedule Cursor::schedule(std::uint64_t offset) const {
  return {spec_.samples, spec_.world, spec_.batch, spec_.remainder, offset};
}

std::optional<Wanted> Cursor::want(std::uint64_t ahead) const noexcept {
  const std::uint64_t left = at_end() ? 0 : steps_ - step_;
  if (ahead < left) return Wanted{epoch_, step_ + ahead, current_.share(step_ + ahead, spec_.rank)};
  if (!spec_.repeat) return std::nullopt;
  const std::uint64_t beyond = ahead - left;
  const std::uint64_t step = beyond % whole_.steps();
  const std::uint64_t epoch = next_epoch() + (spec_.auto_epoch ? beyond / whole_.steps() : 0);
  return Wanted{epoch, step, whole_.share(step, spec_.rank)};
}

void Cursor::advance() noexcept {
  ++step_;
  touched_ = true;
}

std::uint64_t Cursor::next_epoch() const noexcept {
  if (pinned_) return *pinned_;
  return spec_.auto_epoch ? epoch_ + 1 : epoch_;
}

void Cursor::roll() noexcept {
  current_ = whole_;
  go_to(next_epoch(), 0, 0);
}

void Cursor::go_to(std::uint64_t epoch, std::uint64_t offset, std::uint64_t step) noexcept {
  epoch_ = epoch;
  offset_ = offset;
  step_ = step;
  steps_ = current_.steps();
  pinned_.reset();
  touched_ = false;
  told_ = false;
}

void Cursor::start_epoch() noexcept {
  if (touched_ || told_) roll();
}

void Cursor::set_epoch(std::uint64_t epoch) noexcept {
  if (touched_ || told_) {
    pinned_ = epoch;
  } else if (epoch != epoch_) {
    current_ = whole_;
    go_to(epoch, 0, 0);
  }
}

void Cursor::seek(std::uint64_t epoch, std::uint64_t step) {
  if (step > whole_.steps()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("step {} cannot be sought: an epoch has {} steps", step, whole_.steps()));
  }
  current_ = whole_;
  go_to(epoch, 0, step);
}

std::string Cursor::state() const {
  const nlohmann::ordered_json state = {{"version", kStateVersion},
                                        {"seed", seed_},
                                        {"epoch", epoch()},
                                        {"next_ordinal", at_end() ? 0 : current_.next_ordinal(step_)},
                                        {"spec_hash", spec_.spec_hash},
                                        {"dataset_digest", spec_.dataset_digest},
                                        {"G", global_batch()}};
  return state.dump();
}

void Cursor::load_state(const std::string& text) {
  try {
    const auto state = nlohmann::json::parse(text);
    if (const std::uint64_t version = natural(state, "version"); version != kStateVersion) {
      throw Error(ErrorKind::kRefused, fmt::format("the state has version {}, this build of feedring reads version {}",
                                                   version, kStateVersion));
    }
    demand_equal(state, "dataset_digest", spec_.dataset_digest, "data set");
    demand_equal(state, "spec_hash", spec_.spec_hash, "sampler or transform");
    const std::uint64_t seed = natural(state, "seed");
    const std::uint64_t epoch = natural(state, "epoch");
    const std::uint64_t next = natural(state, "next_ordinal");
    if (next > spec_.samples) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("the state starts at ordinal {} of an epoch that has only {}", next, spec_.samples));
    }
    current_ = schedule(next % global_batch());
    seed_ = seed;
    go_to(epoch, next % global_batch(), next / global_batch());
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kUsage, fmt::format("this is no state of a feed: {}", error.what()));
  }
}

std::uint64_t Cursor::share_of_epoch() const noexcept {
  const std::uint64_t last = whole_.steps() - 1;
  return last * spec_.batch + whole_.share(last, spec_.rank).valid;
}

}  // namespace feedring
