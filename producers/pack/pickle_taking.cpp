// SPDX-License-Identifier: Apache-2.0
// How a pickle's bytes are taken from its file: what is long stays there.
#include <algorithm>
#include <cstring>

#include "producers/pack/pickle_machine.hpp"

namespace feedring::pack {
namespace {

constexpr std::uint64_t kWindow = 1 << 16;

}  // namespace

char PickleMachine::take_one() {
  if (at_ - window_at_ >= window_.size()) {
    if (left() == 0) fail("is cut short");
    window_.resize(std::min(left(), kWindow));
    out_.file_.read(at_, window_.data(), window_.size());
    window_at_ = at_;
  }
  return window_[at_++ - window_at_];
}

void PickleMachine::give_back() { --at_; }

std::string_view PickleMachine::take(std::uint64_t bytes) {
  taken_.clear();
  for (std::uint64_t i = 0; i < bytes; ++i) taken_.push_back(take_one());
  return taken_;
}

std::string_view PickleMachine::take_line() {
  taken_.clear();
  for (char next = take_one(); next != '\n'; next = take_one()) {
    if (taken_.size() == Pickle::kLongestText) fail("holds a name or a number without an end");
    taken_.push_back(next);
  }
  return taken_;
}

std::uint64_t PickleMachine::take_number(std::size_t bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, take(bytes).data(), bytes);
  return number;
}

void PickleMachine::push_text(Kind kind, std::string_view text) {
  if (room_ == nullptr || room_->capacity() - room_->size() < text.size()) {
    room_ = &out_.texts_.emplace_back();
    room_->reserve(std::max<std::size_t>(kWindow, text.size()));
  }
  const char* kept = room_->data() + room_->size();
  room_->append(text);
  push(make(kind));
  out_.values_.back().kept = kept;
  out_.values_.back().size = text.size();
}

void PickleMachine::push_stored_text(Kind kind, std::uint64_t bytes) {
  if (bytes > left()) fail("is cut short");
  if (bytes <= Pickle::kLongestText) return push_text(kind, take(bytes));
  push(make(kind));
  out_.values_.back().number = static_cast<std::int64_t>(at_);
  out_.values_.back().size = bytes;
  at_ += bytes;
}

void PickleMachine::push_made_text(Kind kind, std::string text) {
  encoded_ += text.size();
  // A byte of the file becomes two of UTF-8 at most, and one again where that is encoded.
  if (encoded_ / 3 > out_.file_.bytes()) fail("unpacks to more than the file has: the same text again and again");
  if (text.size() <= Pickle::kLongestText) return push_text(kind, text);
  text.shrink_to_fit();
  const std::string& kept = out_.texts_.emplace_back(std::move(text));
  push(make(kind));
  out_.values_.back().kept = kept.data();
  out_.values_.back().size = kept.size();
}

}  // namespace feedring::pack
