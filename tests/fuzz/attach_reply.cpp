// SPDX-License-Identifier: Apache-2.0
// A rank reads what came as the answer to its attach: the feed's description, from which its schedule follows, and,
// behind a NUL, a state that it is told to load.
#include <sys/socket.h>

#include <feedring/error.hpp>

#include "consumers/feed_info.hpp"
#include "runtime/control.hpp"
#include "runtime/message.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

void follow(Cursor& cursor, const FeedInfo& info) {
  for (std::uint64_t ahead : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}}) {
    const auto wanted = cursor.want(ahead);
    if (!wanted) continue;
    test::fuzz_require(wanted->share.valid <= info.batch_size && wanted->share.first <= info.samples &&
                       wanted->share.valid <= info.samples - wanted->share.first);
  }
  test::fuzz_require(cursor.share_of_epoch() <= info.samples);
}

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  test::FuzzInput input(data, size);
  const std::string_view reply = input.text('\0');
  if (reply.empty()) return 0;
  int ends[2];
  test::fuzz_require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const UniqueFd here(ends[0]);
  const UniqueFd there(ends[1]);
  test::send_bytes(there.get(), reply, {reply.size() % 4, there.get()});
  try {
    auto message = receive_message(here.get(), 0);
    throw_if_error(message->body);
    Launch launch;
    launch.rank = 1;
    launch.world = 3;
    const FeedInfo info = read_feed_info(message->body, "train", launch);
    Cursor cursor(info.cursor());
    follow(cursor, info);
    cursor.advance();
    cursor.load_state(std::string(input.rest()));
    follow(cursor, info);
    (void)message->take_memory(0);
  } catch (const Error& error) {
    test::fuzz_require(error.what()[0] != '\0');
  }
  return 0;
}
