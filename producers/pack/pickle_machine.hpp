// SPDX-License-Identifier: Apache-2.0
// Carries a pickle out. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "producers/pack/pickle.hpp"

namespace feedring::pack {

class PickleMachine {
 public:
  explicit PickleMachine(Pickle& pickle) : out_(pickle) {}
  /// Returns what the pickle leaves.
  Pickle::Ref run();

 private:
  using Ref = Pickle::Ref;
  using Kind = Pickle::Kind;

  /// What a pickle may call.
  enum class Callable : std::uint8_t { kReconstruct, kNdarray, kDtype, kScalar, kFromBuffer, kEncode, kDict };

  bool step(unsigned char code);  // false: the pickle ends
  bool step_number(unsigned char code);
  bool step_number_line(unsigned char code);
  bool step_text(unsigned char code);
  bool step_text_line(unsigned char code);
  bool step_list(unsigned char code);
  bool step_memo(unsigned char code);
  bool step_object(unsigned char code);

  [[nodiscard]] std::uint64_t left() const noexcept { return out_.file_.bytes() - at_; }
  char take_one();
  std::string_view take(std::uint64_t bytes);  // few; until the next of these calls
  std::string_view take_line();
  void give_back();  // what take_one() took last
  std::uint64_t take_number(std::size_t bytes);
  std::int64_t take_number_line(std::string_view end);
  std::uint64_t take_place_line();
  std::uint32_t take_hex(std::size_t digits);
  Ref pop();
  Ref top() const;
  std::vector<Ref> pop_to_mark();
  void push(Ref value) { stack_.push_back(value); }
  Ref make(Kind kind);
  void push_number(std::int64_t number);
  void push_text(Kind kind, std::string_view text);
  void push_stored_text(Kind kind, std::uint64_t bytes);
  void push_made_text(Kind kind, std::string text);
  std::string unescape_bytes();
  std::string unescape_text();
  void push_list(Kind kind, std::vector<Ref> items);
  std::vector<Ref>& list_of(Ref value, Kind kind);
  void remember(std::uint64_t place, Ref value);
  void recall(std::uint64_t place);

  void find_global(std::string_view module, std::string_view name);
  void reduce(Ref callable, Ref arguments);
  void build(Ref object, Ref state);
  void make_array(Ref dtype, Ref shape, bool fortran, Ref raw, Ref into);
  std::string dtype_of(Ref value) const;
  [[nodiscard]] const std::vector<Ref>& arguments_of(Ref tuple, std::size_t least) const;
  [[noreturn]] void fail(std::string_view what) const { out_.fail(what); }

  Pickle& out_;
  std::uint64_t at_ = 0;  // in the file
  std::string window_;    // what was read of it
  std::uint64_t window_at_ = 0;
  std::string taken_;
  std::string* room_ = nullptr;  // in out_.texts_, for short texts
  std::uint64_t encoded_ = 0;    // what was made of texts, beside the pickle
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
};

}  // namespace feedring::pack
