// SPDX-License-Identifier: Apache-2.0
// The contract on record. contract.txt is what the contract is; protocols.txt binds each protocol number to one such
// text. So nobody moves a byte by accident, or on purpose without a new protocol number; and processes that differ
// refuse each other with a sentence that says how.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <feedring/error.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "runtime/contract.hpp"
#include "tests/abi/contract_dump.hpp"
#include "tests/support/ring_memory.hpp"

namespace feedring {
namespace {

const std::string kFolder = FEEDRING_SOURCE_DIR "/tests/abi/";

std::string read_file(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(kFolder + name).rdbuf();
  return text.str();
}

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

TEST(Contract, IsTheOneOnRecord) {
  const std::string is = test::dump_contract();
  if (is == read_file("contract.txt")) return;
  std::ofstream("contract.txt") << is;
  FAIL() << "runtime/contract.hpp has changed. If that is meant: raise kProtocol, copy contract.txt, which was just "
            "written to the working directory, to tests/abi/, and add the line that the next test asks for";
}

TEST(Contract, HasAProtocolNumberOfItsOwn) {
  std::map<std::uint32_t, std::string> hashes;
  std::set<std::string> seen;
  std::istringstream lines(read_file("protocols.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::uint32_t number = 0;
    std::string hash;
    ASSERT_TRUE(words >> number >> hash) << line;
    ASSERT_TRUE(hashes.empty() || number > hashes.rbegin()->first) << "numbers only grow: " << line;
    ASSERT_TRUE(seen.insert(hash).second) << "an old contract came back; it needs a new number all the same";
    hashes[number] = hash;
  }
  ASSERT_FALSE(hashes.empty());
  EXPECT_EQ(hashes.rbegin()->first, contract::kProtocol) << "the last line is the protocol in use";
  EXPECT_EQ(hashes[contract::kProtocol], fmt::format("{:016x}", fnv1a(test::dump_contract())))
      << "the contract has changed since this line was written: raise kProtocol and add a line with this hash";
}

/// What an attaching process is told about a ring whose stamp is `stamp`.
std::string told(std::uint64_t stamp) {
  const test::RingMemory memory(1, 1);
  memory.ring().header().stamp.store(stamp);
  try {
    (void)read_ring_shape(memory.bytes());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    EXPECT_EQ(exit_code(error.kind()), 74);
    return error.what();
  }
  return "";
}

TEST(Attach, ToARingOfAnotherBuildIsRefusedWithWhatWasWantedAndWhatWasFound) {
  EXPECT_EQ(told(contract::fingerprint()), "");
  EXPECT_EQ(told(0x1234),
            fmt::format("a ring cannot be attached: its fingerprint is 0x1234 where this build wants {:#x}; pool and "
                        "trainer must come from one build of feedring",
                        contract::fingerprint()));
}

TEST(Attach, ToARingThatIsNotMadeYetIsRefused) {
  EXPECT_THAT(told(0), testing::HasSubstr("its fingerprint is 0x0 where this build wants 0x"));
}

}  // namespace
}  // namespace feedring
