// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pickle_machine.hpp"

#include <fmt/format.h>

namespace feedring::pack {
namespace {

constexpr std::size_t kMostValues = std::size_t{1} << 27;  // of 40 bytes each
constexpr std::size_t kMostMarks = 1 << 16;

}  // namespace

Pickle::Pickle(const std::filesystem::path& file) : file_(file, "pickle") { root_ = PickleMachine(*this).run(); }

Pickle::Ref PickleMachine::run() {
  while (step(static_cast<unsigned char>(take_one()))) {
  }
  return pop();
}

bool PickleMachine::step(unsigned char code) {
  if (code == '.') return false;
  if (step_number(code) || step_number_line(code) || step_text(code) || step_text_line(code) || step_list(code) ||
      step_memo(code) || step_object(code)) {
    return true;
  }
  fail(
      fmt::format("asks for what is not done here (code 0x{:02x}): only NumPy arrays and plain lists, dicts, texts and "
                  "numbers are read, of protocols 0 to 5",
                  code));
}

bool PickleMachine::step_number(unsigned char code) {
  switch (code) {
    case 'N': push(make(Kind::kNone)); return true;
    case 0x88:
    case 0x89:
      push(make(Kind::kBool));
      out_.values_.back().number = code == 0x88 ? 1 : 0;
      return true;
    case 'J': push_number(static_cast<std::int32_t>(take_number(4))); return true;
    case 'K': push_number(static_cast<std::int64_t>(take_number(1))); return true;
    case 'M': push_number(static_cast<std::int64_t>(take_number(2))); return true;
    case 0x8a: {
      const std::uint64_t bytes = take_number(1);
      if (bytes > 8) fail("holds a number of more than 64 bits");
      std::uint64_t number = take_number(bytes);
      if (bytes > 0 && bytes < 8 && (number >> (8 * bytes - 1)) != 0) number |= ~std::uint64_t{0} << (8 * bytes);
      push_number(static_cast<std::int64_t>(number));
      return true;
    }
    case 'G':  // big-endian, of no use here
      (void)take(8);
      push(make(Kind::kFloat));
      return true;
    default: return false;
  }
}

bool PickleMachine::step_text(unsigned char code) {
  const auto text = [&](Kind kind, std::size_t width) {
    push_stored_text(kind, take_number(width));
    return true;
  };
  switch (code) {
    case 'U': return text(Kind::kBytes, 1);  // Python 2's str
    case 'T': return text(Kind::kBytes, 4);
    case 0x8c: return text(Kind::kText, 1);
    case 'X': return text(Kind::kText, 4);
    case 0x8d: return text(Kind::kText, 8);
    case 'C': return text(Kind::kBytes, 1);
    case 'B': return text(Kind::kBytes, 4);
    case 0x8e:
    case 0x96: return text(Kind::kBytes, 8);
    default: return false;
  }
}

bool PickleMachine::step_list(unsigned char code) {
  switch (code) {
    case '(':
      if (marks_.size() == kMostMarks) fail("is nested too deeply");
      marks_.push_back(stack_.size());
      return true;
    case '0': (void)pop(); return true;
    case '2': push(top()); return true;
    case '1': (void)pop_to_mark(); return true;
    case ']': push_list(Kind::kList, {}); return true;
    case '}': push_list(Kind::kDict, {}); return true;
    case ')': push_list(Kind::kTuple, {}); return true;
    case 'l': push_list(Kind::kList, pop_to_mark()); return true;
    case 't': push_list(Kind::kTuple, pop_to_mark()); return true;
    case 'd': push_list(Kind::kDict, pop_to_mark()); return true;
    case 0x85:
    case 0x86:
    case 0x87: {
      std::vector<Ref> items(code - 0x84U);
      for (std::size_t i = items.size(); i-- > 0;) items[i] = pop();
      push_list(Kind::kTuple, std::move(items));
      return true;
    }
    case 'a': {
      const Ref item = pop();
      list_of(top(), Kind::kList).push_back(item);
      return true;
    }
    case 's': {
      const Ref value = pop(), key = pop();
      std::vector<Ref>& dict = list_of(top(), Kind::kDict);
      dict.push_back(key);
      dict.push_back(value);
      return true;
    }
    case 'e':
    case 'u': {
      const std::vector<Ref> items = pop_to_mark();
      std::vector<Ref>& list = list_of(top(), code == 'e' ? Kind::kList : Kind::kDict);
      if (code == 'u' && items.size() % 2 != 0) fail("is damaged: a key without a value");
      list.insert(list.end(), items.begin(), items.end());
      return true;
    }
    default: return false;
  }
}

bool PickleMachine::step_memo(unsigned char code) {
  switch (code) {
    case 'q': remember(take_number(1), top()); return true;
    case 'r': remember(take_number(4), top()); return true;
    case 'p': remember(take_place_line(), top()); return true;
    case 'g': recall(take_place_line()); return true;
    case 0x94: remember(memo_.size(), top()); return true;
    case 'h': recall(take_number(1)); return true;
    case 'j': recall(take_number(4)); return true;
    case 0x80:
      if (take_number(1) > 5) fail("is of a protocol above 5");
      return true;
    case 0x95: (void)take(8); return true;  // a frame: what follows is the same without
    default: return false;
  }
}

bool PickleMachine::step_object(unsigned char code) {
  switch (code) {
    case 'c': {
      const std::string module(take_line()), name(take_line());
      find_global(module, name);
      return true;
    }
    case 0x93: {
      const Ref name = pop(), module = pop();
      find_global(out_.text(module), out_.text(name));
      return true;
    }
    case 'i': {  // as 'c', a tuple and 'R'
      const std::string module(take_line()), name(take_line());
      push_list(Kind::kTuple, pop_to_mark());
      const Ref arguments = pop();
      find_global(module, name);
      const Ref callable = pop();
      reduce(callable, arguments);
      return true;
    }
    case 'R': {
      const Ref arguments = pop(), callable = pop();
      reduce(callable, arguments);
      return true;
    }
    case 'b': {
      const Ref state = pop();
      build(top(), state);
      return true;
    }
    default: return false;
  }
}

Pickle::Ref PickleMachine::top() const {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) fail("is damaged: it takes from an empty stack");
  return stack_.back();
}

Pickle::Ref PickleMachine::pop() {
  const Ref value = top();
  stack_.pop_back();
  return value;
}

std::vector<Pickle::Ref> PickleMachine::pop_to_mark() {
  if (marks_.empty()) fail("is damaged: a mark is missing");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<Ref> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

Pickle::Ref PickleMachine::make(Kind kind) {
  if (out_.values_.size() == kMostValues) fail("holds too many values");
  out_.values_.emplace_back().kind = kind;
  return static_cast<Ref>(out_.values_.size() - 1);
}

void PickleMachine::push_number(std::int64_t number) {
  push(make(Kind::kInt));
  out_.values_.back().number = number;
}

void PickleMachine::push_list(Kind kind, std::vector<Ref> items) {
  if (kind == Kind::kDict && items.size() % 2 != 0) fail("is damaged: a key without a value");
  const Ref list = make(kind);
  out_.values_.back().more = static_cast<std::uint32_t>(out_.lists_.size());
  out_.lists_.push_back(std::move(items));
  push(list);
}

std::vector<Pickle::Ref>& PickleMachine::list_of(Ref value, Kind kind) {
  if (out_.kind(value) != kind) fail("is damaged: it adds to what is no list or dict");
  return out_.lists_.at(out_.values_[value].more);
}

void PickleMachine::remember(std::uint64_t place, Ref value) { memo_[place] = value; }

void PickleMachine::recall(std::uint64_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) fail("is damaged: it recalls what was not there");
  push(found->second);
}

}  // namespace feedring::pack
