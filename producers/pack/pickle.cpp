// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/pickle.hpp"

#include <fmt/format.h>

#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/labels.hpp"

namespace feedring::pack {

std::uint64_t Pickle::Array::elements() const noexcept {
  std::uint64_t count = 1;
  for (const std::uint64_t length : shape) {
    if (length != 0 && count > UINT64_MAX / length) return UINT64_MAX;
    count *= length;
  }
  return count;
}

std::int64_t Pickle::number(Ref value) const {
  if (kind(value) != Kind::kInt && kind(value) != Kind::kBool)
    fail("holds something else where a whole number belongs");
  return values_[value].number;
}

Pickle::Bytes Pickle::bytes(Ref value) const {
  if (kind(value) != Kind::kText && kind(value) != Kind::kBytes) fail("holds something else where a text belongs");
  return values_[value].text();
}

std::string_view Pickle::text(Ref value) const {
  const Bytes text = bytes(value);
  if (text.kept == nullptr && text.size > 0) {
    fail(fmt::format("holds a text of {} bytes where a name belongs", text.size));
  }
  return {text.kept, text.size};
}

void Pickle::read(const Bytes& bytes, std::uint64_t from, std::uint64_t count, char* target) const {
  if (from > bytes.size || count > bytes.size - from) fail("is damaged: it holds less than it says");
  if (count == 0) return;
  if (bytes.kept != nullptr) {
    std::memcpy(target, bytes.kept + from, count);
  } else {
    file_.read(bytes.at + from, target, count);
  }
}

const std::vector<Pickle::Ref>& Pickle::items(Ref value) const {
  if (kind(value) != Kind::kList && kind(value) != Kind::kTuple && kind(value) != Kind::kDict) {
    fail("holds something else where a list or a dict belongs");
  }
  return lists_.at(values_[value].more);
}

const Pickle::Array& Pickle::array(Ref value) const {
  if (kind(value) != Kind::kArray) fail("holds something else where an array belongs");
  return arrays_.at(values_[value].more);
}

std::optional<Pickle::Ref> Pickle::find(Ref dict, std::string_view key) const {
  if (kind(dict) != Kind::kDict) return std::nullopt;
  const std::vector<Ref>& both = items(dict);
  for (std::size_t i = both.size() / 2 * 2; i >= 2; i -= 2) {  // of equal keys the last one holds, as in Python
    const Kind of = kind(both[i - 2]);
    if ((of == Kind::kText || of == Kind::kBytes) && values_[both[i - 2]].size == key.size() &&
        text(both[i - 2]) == key) {
      return both[i - 1];
    }
  }
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> Pickle::numbers(Ref value) const {
  std::vector<std::int64_t> numbers;
  if (kind(value) == Kind::kArray) {
    const Array& of = array(value);
    const bool sign = of.dtype.starts_with('i');
    if (of.shape.size() != 1 || of.dtype.size() != 2 || (!sign && !of.dtype.starts_with('u'))) return std::nullopt;
    const auto width = static_cast<std::size_t>(of.dtype[1] - '0');
    std::string bytes(of.bytes.size, '\0');
    read(of.bytes, 0, bytes.size(), bytes.data());
    for (std::size_t i = 0; i < of.shape[0]; ++i) {
      std::uint64_t number = 0;
      std::memcpy(&number, bytes.data() + i * width, width);
      if (sign && width < 8 && (number >> (8 * width - 1)) != 0) number |= ~std::uint64_t{0} << (8 * width);
      numbers.push_back(static_cast<std::int64_t>(number));
    }
    return numbers;
  }
  if (kind(value) != Kind::kList && kind(value) != Kind::kTuple) return std::nullopt;
  for (const Ref each : items(value)) {
    if (kind(each) != Kind::kInt) return std::nullopt;
    numbers.push_back(values_[each].number);
  }
  return numbers;
}

std::optional<std::vector<std::string>> Pickle::texts(Ref value) const {
  const std::vector<Ref>* all = nullptr;
  if (kind(value) == Kind::kArray) all = &array(value).objects;
  if (kind(value) == Kind::kList || kind(value) == Kind::kTuple) all = &items(value);
  if (all == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const Ref each : *all) {
    if (kind(each) != Kind::kText && kind(each) != Kind::kBytes) return std::nullopt;
    texts.emplace_back(text(each));
  }
  return texts;
}

void Pickle::fail(std::string_view what) const {
  throw Error(ErrorKind::kData, fmt::format("the pickle {} {}", dataset::shown(file_.name()), what));
}

}  // namespace feedring::pack
