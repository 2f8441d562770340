// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/tf_example.hpp"

namespace feedring::pack {
namespace {

/// A message, field by field.
class Message {
 public:
  explicit Message(std::string_view bytes) : left_(bytes) {}

  /// False at the end, and where it is damaged.
  bool next() {
    if (left_.empty()) return false;
    const std::optional<std::uint64_t> key = take_varint();
    if (!key || *key >> 3 == 0) return spoil();
    field_ = *key >> 3;
    bytes_ = {};
    switch (*key & 7) {
      case 0: {
        const std::optional<std::uint64_t> number = take_varint();
        if (!number) return spoil();
        number_ = *number;
        kind_ = Kind::kNumber;
        return true;
      }
      case 1: return take_bytes(8, Kind::kOther);
      case 2: {
        const std::optional<std::uint64_t> length = take_varint();
        return length ? take_bytes(*length, Kind::kBytes) : spoil();
      }
      case 5: return take_bytes(4, Kind::kOther);
      default: return spoil();  // groups, which nothing here has
    }
  }
  [[nodiscard]] bool whole() const noexcept { return whole_; }
  /// Whether the field is this one, and is bytes; a message is bytes too.
  [[nodiscard]] bool is_bytes(std::uint64_t field) const noexcept { return field_ == field && kind_ == Kind::kBytes; }
  [[nodiscard]] bool is_number(std::uint64_t field) const noexcept { return field_ == field && kind_ == Kind::kNumber; }
  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  std::optional<std::uint64_t> take_varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      number |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return number;
    }
    whole_ = false;
    return std::nullopt;
  }

 private:
  enum class Kind : std::uint8_t { kNumber, kBytes, kOther };
  bool spoil() {
    whole_ = false;
    left_ = {};
    return false;
  }
  bool take_bytes(std::uint64_t length, Kind kind) {
    if (length > left_.size()) return spoil();
    bytes_ = left_.substr(0, length);
    left_.remove_prefix(length);
    kind_ = kind;
    return true;
  }

  std::string_view left_, bytes_;
  std::uint64_t field_ = 0, number_ = 0;
  Kind kind_ = Kind::kOther;
  bool whole_ = true;
};

/// The only value of a BytesList.
bool read_bytes_list(std::string_view list, std::optional<std::string_view>& value) {
  Message message(list);
  value.reset();
  while (message.next()) {
    if (!message.is_bytes(1)) continue;
    if (value) return false;
    value = message.bytes();
  }
  return message.whole();
}

/// The only value of an Int64List, packed or not.
bool read_number_list(std::string_view list, std::optional<std::int64_t>& value) {
  Message message(list);
  value.reset();
  while (message.next()) {
    std::optional<std::uint64_t> number;
    if (message.is_number(1)) number = message.number();
    if (message.is_bytes(1)) {
      Message packed(message.bytes());
      number = packed.take_varint();
      if (!number || packed.next() || !packed.whole()) return false;
    }
    if (!number) continue;
    if (value) return false;
    value = static_cast<std::int64_t>(*number);
  }
  return message.whole();
}

/// An entry of the map of features: its name (1) and the feature (2), which is one of three lists.
bool read_feature(std::string_view entry, TfExample& example) {
  std::string_view name, feature;
  Message fields(entry);
  while (fields.next()) {
    if (fields.is_bytes(1)) name = fields.bytes();
    if (fields.is_bytes(2)) feature = fields.bytes();
  }
  if (!fields.whole()) return false;
  Message list(feature);
  while (list.next()) {
    if (name == "image" && list.is_bytes(1) && !read_bytes_list(list.bytes(), example.image)) return false;
    if (name == "label" && list.is_bytes(3) && !read_number_list(list.bytes(), example.label)) return false;
  }
  return list.whole();
}

}  // namespace

std::optional<TfExample> read_tf_example(std::string_view record) {
  TfExample example;
  Message fields(record);
  while (fields.next()) {
    if (!fields.is_bytes(1)) continue;
    Message features(fields.bytes());
    while (features.next()) {
      if (features.is_bytes(1) && !read_feature(features.bytes(), example)) return std::nullopt;
    }
    if (!features.whole()) return std::nullopt;
  }
  if (!fields.whole()) return std::nullopt;
  return example;
}

}  // namespace feedring::pack
