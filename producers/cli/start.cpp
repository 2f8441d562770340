// SPDX-License-Identifier: Apache-2.0
// `feedring start`, `status` and `stop`: a pool that lives on its own.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <feedring/error.hpp>
#include <memory>
#include <string_view>
#include <utility>

#include "producers/cli/background.hpp"
#include "producers/cli/commands.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/pool_options.hpp"
#include "producers/cli/run.hpp"
#include "producers/pool/status_pages.hpp"
#include "runtime/control.hpp"
#include "runtime/memory_limits.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"
#include "runtime/start_end.hpp"

namespace feedring::cli {

void add_start(CLI::App& app, Exit& exit) {
  struct Arguments {
    FeedChoice choice;
    StartOptions options;
    bool foreground = false;
    bool from_rank = false;
    int ready_fd = -1;
    int error_fd = -1;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("start", "Starts a pool that lives until `feedring stop`.");
  command->footer(
      "  eval \"export $(feedring start -c feed.toml)\"    sets FEEDRING_POOL for what is started next\n"
      "  feedring start photos/ --foreground             stays, until ^C");
  add_feed_options(*command, arguments->choice);
  add_cache_option(*command, arguments->choice);
  add_pool_options(*command, arguments->options.overrides);
  command->add_option("--address", arguments->options.address,
                      "Where to listen: an abstract name, or a path that begins with / (default: named after the job)");
  command->add_flag("--foreground", arguments->foreground, "Stay in the foreground");
  command->add_option("--grace", arguments->options.grace_s,
                      "End by itself this many seconds after the last rank has gone");
  command->add_flag("--from-rank", arguments->from_rank, "Started by a rank: --grace 10, 60 under torchrun")->group("");
  command->add_option("--ready-fd", arguments->ready_fd, "Write the address here once ranks can attach")->group("");
  command->add_option("--job-fd", arguments->options.job_fd, "A pidfd of the job that this pool is for")->group("");
  command->add_option("--error-fd", arguments->error_fd, "Write the sentence of an error here")->group("");
  command->callback([arguments, &exit] {
    if (!arguments->foreground && !arguments->from_rank) {
      std::vector<std::string> forward;
      const FeedChoice& choice = arguments->choice;
      if (!choice.data.empty()) forward.push_back(choice.data);
      if (!choice.config.empty()) forward.insert(forward.end(), {"-c", choice.config});
      if (!choice.feed.empty()) forward.insert(forward.end(), {"--feed", choice.feed});
      if (!choice.cache.empty()) forward.insert(forward.end(), {"--cache", choice.cache});
      const StartOptions& options = arguments->options;
      if (options.overrides.producers)
        forward.insert(forward.end(), {"--producers", std::to_string(*options.overrides.producers)});
      if (options.overrides.ranks) forward.insert(forward.end(), {"--ranks", std::to_string(*options.overrides.ranks)});
      if (!options.address.empty()) forward.insert(forward.end(), {"--address", options.address});
      if (options.grace_s) forward.insert(forward.end(), {"--grace", std::to_string(*options.grace_s)});
      exit.code = start_in_background(forward);
      return;
    }
    if (arguments->from_rank && !arguments->options.grace_s) {
      // torchrun restarts all ranks when one fails, which takes as long as importing torch.
      arguments->options.grace_s = std::getenv("TORCHELASTIC_RUN_ID") != nullptr ? 60 : 10;
    }
    bool serves = false;
    try {
      arguments->options.config = resolve_feed(arguments->choice).config;
      exit.code = serve(arguments->options, [&](const std::string& address) {
        serves = true;
        if (arguments->ready_fd < 0) {
          if (!arguments->from_rank) {
            write_line("FEEDRING_POOL=" + address);
            finish_output();
          }
          return;
        }
        if (::write(arguments->ready_fd, address.data(), address.size()) < 0)
          throw Error(ErrorKind::kInternal, "nobody waits for this pool any more");
        ::close(arguments->ready_fd);
      });
    } catch (const Error& error) {
      const std::string_view text = error.what();
      const bool left = arguments->error_fd >= 0 &&
                        ::write(arguments->error_fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
      const bool ends = std::find(kEndsAllStarts.begin(), kEndsAllStarts.end(), error.kind()) != kEndsAllStarts.end();
      if (serves || !left || !ends) throw;
      exit.code = exit_code(error.kind());  // the rank that waits for it tells why
    }
  });
}

void add_stop(CLI::App& app, Exit& exit) {
  auto address = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("stop", "Ends a pool; returns when it is gone.");
  command->footer("  feedring stop");
  add_pool_address(*command, *address);
  command->callback([address, &exit] {
    const std::string where = address_of(*address);
    const UniqueFd socket = connect_to(where);
    if (!socket) throw Error(ErrorKind::kPoolGone, fmt::format("no pool listens at {}", where));
    const UniqueFd pool = peer_pidfd(socket.get());
    send_message(socket.get(), {{"op", "stop"}});
    auto reply = receive_message(socket.get(), 5000);
    if (!reply) throw Error(ErrorKind::kDeadline, fmt::format("the pool at {} did not answer within 5 s", where));
    throw_if_error(reply->body);
    if (pool && !is_dead(pool.get(), 5000))
      throw Error(ErrorKind::kDeadline, fmt::format("the pool at {} did not end within 5 s", where));
    exit.code = 0;
  });
}

void add_status(CLI::App& app, Exit& exit) {
  struct Arguments {
    std::string address;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("status", "Shows what a pool is doing.");
  command->footer("  feedring status --json");
  add_pool_address(*command, arguments->address);
  command->add_flag("--json", arguments->json, "One JSON object");
  command->callback([arguments, &exit] {
    const std::string where = address_of(arguments->address);
    const UniqueFd socket = connect_to(where);
    if (!socket) throw Error(ErrorKind::kPoolGone, fmt::format("no pool listens at {}", where));
    nlohmann::json body = join_status([&](std::uint64_t from) {
      send_message(socket.get(), {{"op", "status"}, {"from", from}});
      auto reply = receive_message(socket.get(), 5000);
      if (!reply) throw Error(ErrorKind::kDeadline, fmt::format("the pool at {} did not answer within 5 s", where));
      throw_if_error(reply->body);
      return std::move(reply->body);
    });
    body.erase("ok");
    exit.code = 0;
    if (arguments->json) {
      write_json(body);
      return;
    }
    write_line(fmt::format(
        "pool {} (process {}), up {:.0f} s, {} rank(s) attached, {} failed sample(s), {} producer(s) replaced",
        body.value("pool", "?"), body.value("pid", 0), body.value("uptime_s", 0.0), body.value("ranks_attached", 0),
        body.value("failed", 0), body.value("producers_replaced", 0)));
    for (const auto& feed : body["feeds"]) {
      write_line(fmt::format("feed {}: {} samples, {} classes, batch {}, {} slots, data {}", feed.value("name", "?"),
                             feed.value("samples", 0), feed.value("classes", 0), feed.value("batch_size", 0),
                             feed.value("slots", 0), feed.value("dataset_digest", "?")));
    }
    for (const auto& store : body["stores"]) {
      write_line(fmt::format("store of {}: {} of {} decoded pictures, {}",
                             fmt::join(store.value("feeds", std::vector<std::string>{}), ", "),
                             store.value("filled", 0), store.value("samples", 0),
                             human_bytes(store.value("bytes", std::uint64_t{0}))));
    }
    for (const auto& store : body["seek_indices"]) {
      write_line(fmt::format("seek indices of {}: {} of {} pictures, {} of {}",
                             fmt::join(store.value("feeds", std::vector<std::string>{}), ", "),
                             store.value("filled", 0), store.value("samples", 0),
                             human_bytes(store.value("taken_bytes", std::uint64_t{0})),
                             human_bytes(store.value("bytes", std::uint64_t{0}))));
    }
    for (const auto& ring : body["rings"]) {
      const auto& slots = ring["slots"];
      write_line(fmt::format("ring {}/{}: {} batches, waited {:.1f} s, slots {} ready, {} filling, {} in use, {} free",
                             ring.value("feed", "?"), ring.value("local_rank", 0), ring.value("batches", 0),
                             ring.value("wait_s", 0.0), slots.value("ready", 0), slots.value("offered", 0),
                             slots.value("leased", 0), slots.value("idle", 0)));
    }
    for (const auto& producer : body["producers"]) {
      const std::string hand = producer.contains("in_hand")
                                   ? fmt::format(", {:.1f} s with {}", producer["in_hand"].value("seconds", 0.0),
                                                 printable(producer["in_hand"].value("path", "?")))
                                   : "";
      write_line(fmt::format("producer {} (process {}): {} samples, {:.1f} s of CPU{}", producer.value("id", 0),
                             producer.value("pid", 0), producer.value("samples", 0), producer.value("cpu_s", 0.0),
                             hand));
    }
  });
}

}  // namespace feedring::cli
