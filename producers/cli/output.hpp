// SPDX-License-Identifier: Apache-2.0
// What commands write: data on standard output, checked; progress on a terminal only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace feedring::cli {

/// Bytes as one line for a person: valid UTF-8, with control characters (a file's name could move the cursor) as \xNN.
[[nodiscard]] std::string printable(std::string_view bytes);

/// Writes to standard output, buffered. Throws Error(kInternal) where that fails: a full disk must not look like
/// success.
void write_bytes(std::string_view bytes);
/// One line of JSON. Strings must be UTF-8 (producers/config/json_text.hpp).
void write_json(const nlohmann::ordered_json& value);
/// `text` and a newline, as they are.
void write_line(std::string_view text);
/// Flushes; throws as write_bytes does. The end of every command that wrote.
void finish_output();

/// One line on standard error that changes in place; nothing where standard error is no terminal. Gone when destroyed.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::string_view text);
  /// Before anything else is written to the terminal.
  void clear();

 private:
  bool on_terminal_;
  bool shown_ = false;
};

}  // namespace feedring::cli
