// SPDX-License-Identifier: Apache-2.0
// The words of our enumerations in a description that another process of ours wrote. Internal to this folder.
#pragma once

#include <feedring/error.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "producers/config/json_text.hpp"
#include "producers/config/suggest.hpp"
#include "producers/config/words.hpp"

namespace feedring {

/// Throws Error(kInternal) for another word, nlohmann::json::exception where there is none.
template <class Enum>
Enum word_of(const nlohmann::json& json, const char* key) {
  const std::string word = json.at(key).get<std::string>();
  const std::optional<Enum> value = from_word<Enum>(word);
  if (!value) {
    throw Error(ErrorKind::kInternal, "the feed's description holds " + std::string(key) + " = \"" + to_utf8(word) +
                                          "\", which is none of " + any_of_words(words_of<Enum>()));
  }
  return *value;
}

}  // namespace feedring
