// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/pack_head.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "producers/dataset/labels.hpp"

namespace feedring {

std::string write_pack_head(const std::vector<std::string>& classes, const std::vector<std::uint64_t>& samples) {
  std::string head = R"({"feedring_pack":1,"classes":[)";  // without a tree of it: there may be millions
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (i > 0) head += ',';
    try {
      head += '[' + nlohmann::json(classes[i]).dump() + ',' + std::to_string(samples.at(i)) + ']';
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorKind::kData, fmt::format("the class {} cannot be packed: its name is not UTF-8; rename it",
                                                dataset::shown(classes[i])));
    }
  }
  return head + "]}\n";
}

namespace {

/// Takes the head out of the JSON while it is read: {"feedring_pack": 1, "classes": [[name, samples], …]}.
class HeadReader : public nlohmann::json::json_sax_t {
 public:
  [[nodiscard]] std::optional<PackHead> take() {
    if (!version_ || !has_classes_) return std::nullopt;
    return std::move(head_);
  }

  bool null() override { return other(); }
  bool boolean(bool /*value*/) override { return other(); }
  bool number_integer(std::int64_t /*value*/) override { return other(); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return other(); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return other(); }
  bool number_unsigned(std::uint64_t value) override {
    if (depth_ == 1 && key_ == "feedring_pack") return version_ = value == 1;
    if (!in_classes_) return other();
    if (depth_ != 3 || parts_++ != 1 || value > UINT32_MAX - all_) return false;
    all_ += value;
    head_.samples.push_back(value);
    return true;
  }
  bool string(std::string& value) override {
    if (!in_classes_) return other();
    if (depth_ != 3 || parts_++ != 0) return false;
    head_.classes.push_back(std::move(value));
    return true;
  }
  bool key(std::string& value) override {
    if (depth_ == 1) key_ = value;
    return true;
  }
  bool start_object(std::size_t /*elements*/) override { return begin(/*list=*/false); }
  bool start_array(std::size_t /*elements*/) override { return begin(/*list=*/true); }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool end_array() override {
    if (in_classes_ && depth_ == 3 && parts_ != 2) return false;
    --depth_;
    if (depth_ == 1) in_classes_ = false;
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*text*/,
                   const nlohmann::json::exception& /*error*/) override {
    return false;
  }

 private:
  /// A value of no meaning here: nothing but what is above stands in the two members that have one.
  bool other() const {
    return !in_classes_ && depth_ > 0 && (depth_ > 1 || (key_ != "feedring_pack" && key_ != "classes"));
  }
  bool begin(bool list) {
    if (depth_ == 0) return ++depth_, !list;
    if (in_classes_) {
      parts_ = 0;
      return ++depth_ == 3 && list;
    }
    if (depth_ == 1 && key_ == "feedring_pack") return false;
    if (depth_ == 1 && key_ == "classes") {
      if (!list || has_classes_) return false;
      in_classes_ = has_classes_ = true;
    }
    ++depth_;
    return true;
  }

  PackHead head_;
  std::string key_;  // of the outermost object
  std::size_t depth_ = 0, parts_ = 0;
  std::uint64_t all_ = 0;
  bool version_ = false, has_classes_ = false, in_classes_ = false;
};

/// Whether no name comes twice; sorted, since a set would take more memory than the names.
bool all_differ(const std::vector<std::string>& names) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace

std::optional<PackHead> read_pack_head(std::string_view text) {
  HeadReader reader;
  if (!nlohmann::json::sax_parse(text, &reader)) return std::nullopt;
  std::optional<PackHead> head = reader.take();
  return head && all_differ(head->classes) ? std::move(head) : std::nullopt;
}

}  // namespace feedring
