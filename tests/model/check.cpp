// SPDX-License-Identifier: Apache-2.0
// Checks one setting of the ring: model_check [NAME=NUMBER]… [expect=TEXT|TEXT…]. Exit 0 where it ended as expected:
// every state tried and nothing wrong, or, with expect=TEXT|TEXT…, something wrong that holds one of the texts. Built
// once from the shipped text and once from each mutant of it (mutants.toml).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/model/world.hpp"

namespace {

bool holds_one_of(const std::string& text, const std::string& parts) {
  for (std::size_t begin = 0; begin <= parts.size();) {
    const std::size_t end = std::min(parts.find('|', begin), parts.size());
    if (text.find(parts.substr(begin, end - begin)) != std::string::npos) return !text.empty();
    begin = end + 1;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  using namespace feedring::model;
  Setting setting;
  Limits limits;
  std::string expected;
  const std::map<std::string, std::uint32_t*> numbers{{"rings", &setting.rings},
                                                      {"slots", &setting.slots},
                                                      {"tasks", &setting.tasks},
                                                      {"producers", &setting.producers},
                                                      {"batches", &setting.batches},
                                                      {"producer_deaths", &setting.producer_deaths},
                                                      {"rank_deaths", &setting.rank_deaths},
                                                      {"seeks", &setting.seeks}};
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const std::string name = argument.substr(0, argument.find('='));
    const std::string value = argument.substr(std::min(argument.size(), name.size() + 1));
    if (name == "expect") {
      expected = value;
    } else if (name == "preemptions") {
      limits.preemptions = std::atoi(value.c_str());
    } else if (name == "releaser") {
      setting.releaser = value == "1";
    } else if (const auto at = numbers.find(name); at != numbers.end()) {
      *at->second = static_cast<std::uint32_t>(std::atoi(value.c_str()));
    } else {
      std::fprintf(stderr, "model_check: unknown argument '%s'\n", arguments[i]);
      return 2;
    }
  }

  const auto start = std::chrono::steady_clock::now();
  const Verdict verdict = explore(*ring_world(setting), limits);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%lu states, %lu moves, %lu ends, %zu deep, %.1f s, %s%s\n%s", verdict.states, verdict.moves,
              verdict.ends, verdict.deepest, seconds, verdict.complete ? "all tried: " : "",
              verdict.violation.empty() ? "nothing wrong" : verdict.violation.c_str(), verdict.trail.c_str());
  const bool as_expected =
      expected.empty() ? verdict.complete && verdict.violation.empty() : holds_one_of(verdict.violation, expected);
  if (!as_expected && !expected.empty()) std::printf("expected: %s\n", expected.c_str());
  return as_expected ? 0 : 1;
}
