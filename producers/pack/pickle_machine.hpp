// SPDX-License-Identifier: Apache-2.0
// Carries a pickle out. Internal to this folder.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "producers/pack/pickle.hpp"

namespace feedring::pack {

class PickleMachine {
 public:
  PickleMachine(Pickle& pickle, std::string_view text) : out_(pickle), left_(text) {}
  /// Returns what the pickle leaves.
  Pickle::Ref run();

 private:
  using Ref = Pickle::Ref;
  using Kind = Pickle::Kind;

  /// What a pickle may call.
  enum class Callable : std::uint8_t { kReconstruct, kNdarray, kDtype, kScalar, kFromBuffer, kEncode, kDict };

  bool step(unsigned char code);  // false: the pickle ends
  bool step_number(unsigned char code);
  bool step_text(unsigned char code);
  bool step_list(unsigned char code);
  bool step_memo(unsigned char code);
  bool step_object(unsigned char code);

  std::string_view take(std::uint64_t bytes);
  std::string_view take_line();
  std::uint64_t take_number(std::size_t bytes);
  Ref pop();
  Ref top() const;
  std::vector<Ref> pop_to_mark();
  void push(Ref value) { stack_.push_back(value); }
  Ref make(Kind kind);
  void push_number(std::int64_t number);
  void push_text(Kind kind, std::string_view text);
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
  std::string_view left_;
  const std::uint64_t all_ = left_.size();  // of the pickle
  std::uint64_t encoded_ = 0;               // what was made of texts, beside the pickle
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, Ref> memo_;
};

}  // namespace feedring::pack
