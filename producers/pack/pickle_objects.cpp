// SPDX-License-Identifier: Apache-2.0
// The few things that a pickle may call: those that make NumPy arrays, and bytes as Python 3 writes them for Python 2.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "producers/dataset/labels.hpp"
#include "producers/pack/pickle_machine.hpp"

namespace feedring::pack {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are taken as they lie");

std::size_t width_of(const std::string& dtype) {
  if (dtype.size() != 2) return 0;
  const char kind = dtype[0], digit = dtype[1];
  const bool known = kind == 'u' || kind == 'i' || kind == 'f' || (kind == 'b' && digit == '1');
  return known && (digit == '1' || digit == '2' || digit == '4' || digit == '8') ? static_cast<std::size_t>(digit - '0')
                                                                                 : 0;
}

}  // namespace

void PickleMachine::find_global(std::string_view module, std::string_view name) {
  struct Known {
    std::string_view module, name;
    Callable callable;
  };
  static constexpr std::array<Known, 10> kKnown = {{
      {"numpy.core.multiarray", "_reconstruct", Callable::kReconstruct},
      {"numpy._core.multiarray", "_reconstruct", Callable::kReconstruct},
      {"numpy.core.multiarray", "scalar", Callable::kScalar},
      {"numpy._core.multiarray", "scalar", Callable::kScalar},
      {"numpy.core.numeric", "_frombuffer", Callable::kFromBuffer},
      {"numpy._core.numeric", "_frombuffer", Callable::kFromBuffer},
      {"numpy", "ndarray", Callable::kNdarray},
      {"numpy", "dtype", Callable::kDtype},
      {"_codecs", "encode", Callable::kEncode},
      {"collections", "OrderedDict", Callable::kDict},
  }};
  for (const Known& known : kKnown) {
    if (known.module != module || known.name != name) continue;
    push(make(Kind::kOther));
    out_.values_.back().number = static_cast<std::int64_t>(known.callable);
    return;
  }
  const std::string whole = fmt::format("{}.{}", module, name);
  const std::string named = dataset::shown(whole);
  fail(fmt::format(
      "calls {}, which is not done here: only NumPy arrays and plain lists, dicts, texts and numbers are read", named));
}

const std::vector<Pickle::Ref>& PickleMachine::arguments_of(Ref tuple, std::size_t least) const {
  if (out_.kind(tuple) != Kind::kTuple || out_.items(tuple).size() < least) fail("is damaged: arguments are missing");
  return out_.items(tuple);
}

void PickleMachine::reduce(Ref callable, Ref arguments) {
  // A dtype is a kOther too, but has a text.
  if (out_.kind(callable) != Kind::kOther || out_.values_[callable].kept != nullptr)
    fail("calls what cannot be called");
  switch (static_cast<Callable>(out_.values_[callable].number)) {
    case Callable::kReconstruct: {
      const Ref array = make(Kind::kArray);
      out_.values_.back().more = static_cast<std::uint32_t>(out_.arrays_.size());
      out_.arrays_.emplace_back().dtype = "u1";
      out_.arrays_.back().shape = {0};
      return push(array);
    }
    case Callable::kDtype: {
      std::string_view name = out_.text(arguments_of(arguments, 1)[0]);
      if (name.starts_with('<') || name.starts_with('|')) name.remove_prefix(1);
      if (name == "O8" || name == "O4") name = "O";  // as NumPy writes it
      if (name != "O" && width_of(std::string(name)) == 0)
        fail(fmt::format("holds an array of {}, which is not read", dataset::shown(name)));
      return push_text(Kind::kOther, std::string(name));
    }
    case Callable::kScalar: {
      const std::vector<Ref>& both = arguments_of(arguments, 2);
      const std::string dtype = dtype_of(both[0]);
      const std::string_view raw = out_.text(both[1]);
      if (dtype == "O" || raw.size() != width_of(dtype)) fail("holds a damaged number");
      if (dtype[0] == 'f') return push(make(Kind::kFloat));
      std::uint64_t number = 0;
      std::memcpy(&number, raw.data(), raw.size());
      if (dtype[0] == 'i' && raw.size() < 8 && (number >> (8 * raw.size() - 1)) != 0)
        number |= ~std::uint64_t{0} << (8 * raw.size());
      return push_number(static_cast<std::int64_t>(number));
    }
    case Callable::kFromBuffer: {
      const std::vector<Ref>& given = arguments_of(arguments, 4);
      const bool fortran = out_.text(given[3]) == "F";
      const Ref array = make(Kind::kArray);
      out_.values_.back().more = static_cast<std::uint32_t>(out_.arrays_.size());
      out_.arrays_.emplace_back();
      make_array(given[1], given[2], fortran, given[0], array);
      return push(array);
    }
    case Callable::kEncode: {
      const std::vector<Ref>& both = arguments_of(arguments, 2);
      if (out_.text(both[1]) != "latin1") fail("holds bytes in another form than latin1");
      const Pickle::Bytes of = out_.bytes(both[0]);
      std::string text(of.size, '\0');  // UTF-8 of characters up to U+00FF
      out_.read(of, 0, of.size, text.data());
      std::size_t made = 0;
      for (std::size_t i = 0; i < text.size(); ++i, ++made) {
        const auto lead = static_cast<unsigned char>(text[i]);
        if (lead >= 0x80 && (lead > 0xc3 || lead < 0xc2 || i + 1 == text.size())) fail("holds damaged bytes");
        text[made] = lead < 0x80
                         ? text[i]
                         : static_cast<char>((lead & 3U) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fU));
      }
      text.resize(made);
      return push_made_text(Kind::kBytes, std::move(text));
    }
    case Callable::kDict: {  // Python 2: of a list of pairs
      std::vector<Ref> both;
      const std::vector<Ref>& given = arguments_of(arguments, 0);
      if (!given.empty()) {
        for (const Ref pair : out_.items(given[0])) {
          const std::vector<Ref>& two = out_.items(pair);
          if (two.size() != 2) fail("is damaged: a key without a value");
          both.insert(both.end(), two.begin(), two.end());
        }
      }
      return push_list(Kind::kDict, std::move(both));
    }
    case Callable::kNdarray: fail("calls what cannot be called");
  }
}

std::string PickleMachine::dtype_of(Ref value) const {
  const Pickle::Value& type = out_.values_.at(value);
  if (type.kind != Kind::kOther || type.kept == nullptr) fail("is damaged: an array without a type");
  return {type.kept, type.size};
}

void PickleMachine::build(Ref object, Ref state) {
  if (out_.kind(object) == Kind::kArray) {  // (version, shape, dtype, Fortran's order, bytes or list)
    const std::vector<Ref> given = arguments_of(state, 5);
    return make_array(given[2], given[1], out_.number(given[3]) != 0, given[4], object);
  }
  // A dtype: (version, byte order, …, names of fields, …)
  const std::string dtype = dtype_of(object);
  const std::vector<Ref>& given = arguments_of(state, 5);
  const std::string_view order = out_.text(given[1]);
  if ((order == ">" && dtype.back() != '1') || out_.kind(given[2]) != Kind::kNone ||
      out_.kind(given[3]) != Kind::kNone) {
    fail("holds an array of records, or of big-endian numbers, which is not read");
  }
}

void PickleMachine::make_array(Ref dtype, Ref shape, bool fortran, Ref raw, Ref into) {
  Pickle::Array array;
  array.dtype = dtype_of(dtype);
  array.fortran = fortran;
  for (const Ref length : arguments_of(shape, 0)) {
    if (out_.number(length) < 0) fail("holds an array of a negative length");
    array.shape.push_back(static_cast<std::uint64_t>(out_.number(length)));
  }
  const std::uint64_t elements = array.elements();
  if (array.dtype == "O") {
    if (out_.kind(raw) != Kind::kList || out_.items(raw).size() != elements) fail("holds a damaged array of objects");
    array.objects = out_.items(raw);
  } else {
    array.bytes = out_.bytes(raw);
    if (elements > array.bytes.size || elements * width_of(array.dtype) != array.bytes.size) {
      fail("holds an array whose bytes are not what its shape says");
    }
  }
  out_.arrays_.at(out_.values_[into].more) = std::move(array);
}

}  // namespace feedring::pack
