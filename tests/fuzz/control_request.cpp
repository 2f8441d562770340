// SPDX-License-Identifier: Apache-2.0
// What a process of this user may send to the pool's control socket: messages with a NUL between them, up to three
// descriptors beside each. Whatever came, an answer goes back that the socket carries.
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <feedring/error.hpp>

#include "producers/pool/rank_desk.hpp"
#include "producers/pool/status_pages.hpp"
#include "runtime/control.hpp"
#include "runtime/message.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

constexpr std::uint32_t kRanks = 2;

struct Pool {
  boost::asio::io_context io;
  std::vector<NodeFeed> feeds;
  Rings rings;
  Pool() {
    spdlog::set_level(spdlog::level::off);
    Config config = config_for_folder(test::fuzz_pictures(), 8);
    config.feeds[0].batch_size = 2;
    feeds = open_feeds(config);
    rings.make(feeds, kRanks, 1, std::nullopt, Placement());
  }
};

// As the supervisor does with what comes over a connection.
nlohmann::json answer(RankDesk& desk, int socket, const nlohmann::json& request, std::vector<int>& descriptors) {
  try {
    const std::string op = request.value("op", "");
    if (op == "attach") {
      RankDesk::Attached attached = desk.attach(socket, request);
      descriptors = {attached.ring_fd};
      return attached.reply;
    }
    if (op == "status") {
      const nlohmann::json status = {{"ok", true}, {"rings", desk.status()}, {"feeds", {1, 2, 3}}};
      return status_page(status, first_entry(request), 200);
    }
    throw Error(ErrorKind::kRefused, "a pool does not know the request '" + op + "'");
  } catch (const Error& refusal) {
    return error_reply(refusal);
  } catch (const nlohmann::json::exception& malformed) {
    return error_reply(Error(ErrorKind::kRefused, malformed.what()));
  }
}

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  static Pool pool;
  RankDesk desk(pool.io, pool.feeds, pool.rings, [](std::uint32_t) {
    throw Error(ErrorKind::kMemory, "no more rings");  // a real pool asks how much memory is free
  });
  int ends[2];
  test::fuzz_require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const UniqueFd here(ends[0]);
  const UniqueFd there(ends[1]);
  for (test::FuzzInput input(data, size); !input.empty();) {
    const std::string_view text = input.text('\0');
    if (text.empty()) continue;
    test::send_bytes(there.get(), text, {text.size() % 4, here.get()});
    try {
      const auto message = receive_message(here.get(), 0);
      std::vector<int> descriptors;
      const nlohmann::json reply = answer(desk, here.get(), message->body, descriptors);
      send_message(here.get(), reply, descriptors);
      const auto received = receive_message(there.get(), 0);
      test::fuzz_require(received && received->body.at("ok").is_boolean());
    } catch (const Error& error) {
      test::fuzz_require(error.kind() == ErrorKind::kRefused);  // no message: the connection ends
      return 0;
    }
  }
  return 0;
}
