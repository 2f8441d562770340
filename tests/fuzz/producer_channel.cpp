// SPDX-License-Identifier: Apache-2.0
// Both ends of the channel between the supervisor and a producer: the description of a feed, as a producer reads it,
// and the report of a failed sample, as the supervisor does.
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <feedring/error.hpp>

#include "producers/config/feed_spec.hpp"
#include "producers/pool/failure_list.hpp"
#include "producers/transform/transform.hpp"
#include "runtime/control.hpp"
#include "runtime/message.hpp"
#include "tests/support/fuzz_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  spdlog::set_level(spdlog::level::off);
  FailureList failures(std::nullopt);
  int ends[2];
  test::fuzz_require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const UniqueFd here(ends[0]);
  const UniqueFd there(ends[1]);
  for (test::FuzzInput input(data, size); !input.empty();) {
    const std::string_view text = input.text('\0');
    if (text.empty()) continue;
    test::send_bytes(there.get(), text);
    try {
      const auto message = receive_message(here.get(), 0);
      const nlohmann::json& said = message->body;
      if (said.value("op", "") == "failure") failures.add(said);
      if (said.value("op", "") == "feed") {
        const FeedSpec spec = feed_spec_from_json(said.at("spec"));
        (void)Chain::parse(spec.transform).slot_dtype(spec.dtype);
      }
    } catch (const Error& error) {
      test::fuzz_require(error.what()[0] != '\0');
    } catch (const nlohmann::json::exception&) {
      // Both ends make a sentence of it.
    }
  }
  return 0;
}
