// SPDX-License-Identifier: Apache-2.0
// toml++, with its assertions as exceptions. Version 3.3 asserts of a file what it has not looked at (that a table's
// header begins like a key, which that of "[=]" does not), and with NDEBUG even lets the compiler assume it. A file
// must neither end the process nor be undefined. For load.cpp alone: no other file of ours includes toml++.
#pragma once

#include <stdexcept>

namespace feedring {

/// The parser was led to where it never meant to be.
class TomlLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr void toml_demands(bool fine, const char* what) {
  if (!fine) throw TomlLost(what);
}

}  // namespace feedring

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) ::feedring::toml_demands(static_cast<bool>(expr), #expr)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")
