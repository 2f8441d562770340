// SPDX-License-Identifier: Apache-2.0
// Python's pickles, as data sets use them: NumPy arrays in lists, tuples and dicts. A pickle is a program that may call
// anything; of it only what makes these is carried out here, and everything else is refused by its name. Nothing is
// looked up, imported or run.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "producers/dataset/archive_file.hpp"

namespace feedring::pack {

class Pickle {
 public:
  using Ref = std::uint32_t;  ///< of a value; they may be shared, and hold themselves
  enum class Kind : std::uint8_t { kNone, kBool, kInt, kFloat, kText, kBytes, kList, kTuple, kDict, kArray, kOther };

  /// Bytes in the pickle: those of pictures stay in the file until they are read.
  struct Bytes {
    const char* kept = nullptr;  ///< where they are in memory; nullptr: in the file
    std::uint64_t at = 0;        ///< in the file
    std::uint64_t size = 0;
  };

  /// An array as it was kept. `bytes` has what the shape says, or there are as many `objects`.
  struct Array {
    std::string dtype;  ///< "u1", "i8", "f4", …, "O" for objects; little-endian
    std::vector<std::uint64_t> shape;
    bool fortran = false;
    Bytes bytes;
    std::vector<Ref> objects;
    [[nodiscard]] std::uint64_t elements() const noexcept;
  };

  /// A text or bytes of more than this stay in the file; no name is so long.
  static constexpr std::uint64_t kLongestText = 4096;

  /// Throws Error(kData).
  explicit Pickle(const std::filesystem::path& file);

  [[nodiscard]] Ref root() const noexcept { return root_; }
  [[nodiscard]] std::filesystem::path file() const { return file_.name(); }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_.bytes(); }
  [[nodiscard]] Kind kind(Ref value) const { return values_.at(value).kind; }
  [[nodiscard]] std::int64_t number(Ref value) const;    ///< of an int or a bool
  [[nodiscard]] std::string_view text(Ref value) const;  ///< of a text, or bytes, that are no longer than a name
  [[nodiscard]] Bytes bytes(Ref value) const;            ///< of a text, or bytes
  /// Copies `count` bytes from `from` on. Throws Error(kData) where the file has become shorter.
  void read(const Bytes& bytes, std::uint64_t from, std::uint64_t count, char* target) const;
  [[nodiscard]] const std::vector<Ref>& items(
      Ref value) const;  ///< of a list or tuple; of a dict keys and values by turns
  [[nodiscard]] const Array& array(Ref value) const;
  /// The value of a dict's key, a text or bytes (as Python 2 has it).
  [[nodiscard]] std::optional<Ref> find(Ref dict, std::string_view key) const;
  /// Whole numbers of a list, a tuple or an array of one dimension; nullopt: it holds something else.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(Ref value) const;
  [[nodiscard]] std::optional<std::vector<std::string>> texts(Ref value) const;

  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class PickleMachine;
  struct Value {
    Kind kind = Kind::kNone;
    std::uint32_t more = 0;  // in lists_, or arrays_; of what is to be called, which it is
    std::int64_t number = 0;
    Bytes text() const noexcept { return {kept, static_cast<std::uint64_t>(number), size}; }
    const char* kept = nullptr;
    std::uint64_t size = 0;
  };

  dataset::ArchiveFile file_;
  std::vector<Value> values_;
  std::deque<std::vector<Ref>> lists_;
  std::deque<Array> arrays_;
  std::deque<std::string> texts_;  // what is kept of the pickle, and what does not stand in it as it is
  Ref root_ = 0;
};

}  // namespace feedring::pack
