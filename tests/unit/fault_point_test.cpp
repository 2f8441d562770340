// SPDX-License-Identifier: Apache-2.0
// What a build with fault points does with FEEDRING_FAULT, and that a build without them holds nothing of them.
#include "runtime/fault_point.hpp"

#include <gmock/gmock.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/ring.hpp"

namespace feedring {
namespace {

using testing::HasSubstr;
using testing::Not;

/// fault_point.cpp and a user of the ring's moves, as an object file of a build with or without fault points.
std::string object_files(const std::string& list) {
  std::string all;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    std::ifstream file(name, std::ios::binary);
    EXPECT_TRUE(file) << name;
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

TEST(FaultPoints, AreInNoBinaryThatIsBuiltWithoutThem) {
  const std::string with = object_files(FEEDRING_OBJECTS_WITH_FAULTS);
  const std::string without = object_files(FEEDRING_OBJECTS_WITHOUT_FAULTS);
  ASSERT_THAT(with, HasSubstr("FEEDRING_FAULT"));
  ASSERT_THAT(without, HasSubstr("claim_and_finish")) << "these are the object files that were meant";
  for (const std::string_view name : kFaultPoints) {
    EXPECT_THAT(with, HasSubstr(std::string(name)));
    EXPECT_THAT(without, Not(HasSubstr(std::string(name))));
  }
  for (const char* trace : {"FEEDRING_FAULT", "fault4pass", "fault5asked", "FaultPoint"}) {
    EXPECT_THAT(with, HasSubstr(trace)) << "a trace that shows nothing";
    EXPECT_THAT(without, Not(HasSubstr(trace)));
  }
}

TEST(FaultPoints, HaveDifferentNamesThatTheEnvironmentCanSpell) {
  for (std::size_t i = 0; i < std::size(kFaultPoints); ++i) {
    EXPECT_EQ(kFaultPoints[i].find_first_of(":;@"), std::string_view::npos) << kFaultPoints[i];
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(kFaultPoints[i], kFaultPoints[j]);
  }
}

TEST(FaultPoints, LetGoOnWhoeverAsksForNothing) { EXPECT_EQ(fault_point("finish, between a and b"), 0); }

}  // namespace
}  // namespace feedring
