// SPDX-License-Identifier: Apache-2.0
// feedring-producer with the test in the supervisor's place: what it must not take from its channel.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include "runtime/contract.hpp"
#include "runtime/control.hpp"
#include "runtime/memfd.hpp"
#include "runtime/message.hpp"
#include "tests/support/program.hpp"

namespace feedring {
namespace {

using testing::HasSubstr;

class ProducerProgram : public testing::Test {
 protected:
  ProducerProgram() {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    channel_.reset(pair[0]);
    theirs_.reset(pair[1]);
  }

  /// The first producer of one, with its end of the channel.
  test::Program start() {
    const int end = theirs_.get();
    test::Program program({.command = {std::string(FEEDRING_LIBEXEC) + "/feedring-producer", std::to_string(end),
                                       std::to_string(::getpid()), "1", "0", "1"},
                           .before = [end] { return ::fcntl(end, F_SETFD, 0) == 0; }});
    theirs_.reset();
    return program;
  }
  static UniqueFd memory(std::uint64_t bytes, bool sealed) {
    UniqueFd fd = create_memfd("test", bytes);
    if (sealed) seal_size(fd.get());
    return fd;
  }

  UniqueFd channel_;

 private:
  UniqueFd theirs_;
};

constexpr std::uint64_t kPoolBytes = sizeof(contract::PoolHeader<std::atomic>);

TEST_F(ProducerProgram, RefusesAPoolSegmentThatCouldShrink) {
  test::Program producer = start();
  send_message(channel_.get(), {{"op", "pool"}, {"feeds", 1}}, {memory(kPoolBytes, false).get()});
  EXPECT_EQ(producer.wait(), 74);
  EXPECT_THAT(producer.err(), HasSubstr("size is not sealed"));
}

TEST_F(ProducerProgram, RefusesARingThatCouldShrink) {
  test::Program producer = start();
  send_message(channel_.get(), {{"op", "pool"}, {"feeds", 1}}, {memory(kPoolBytes, true).get()});
  send_message(channel_.get(), {{"op", "ring"}, {"feed", 0}}, {memory(1 << 20, false).get()});
  EXPECT_EQ(producer.wait(), 74);
  EXPECT_THAT(producer.err(), HasSubstr("size is not sealed"));
}

}  // namespace
}  // namespace feedring
