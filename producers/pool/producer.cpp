// SPDX-License-Identifier: Apache-2.0
// The life of a producer, feedring's or another: started by the supervisor alone. Its main thread listens to the
// supervisor; the work loop and the reader are its two other threads.
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <feedring/error.hpp>
#include <feedring/producer.hpp>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "producers/config/json_text.hpp"
#include "producers/pool/feed_message.hpp"
#include "producers/pool/node_stores.hpp"
#include "producers/pool/worker.hpp"
#include "runtime/control.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/message.hpp"
#include "runtime/process.hpp"
#include "runtime/ring_segment.hpp"

namespace feedring {
namespace {

struct Arguments {
  int channel = -1;
  pid_t supervisor = 0;
  WorkerIdentity identity;
};

long number(const char* text) {
  long value = -1;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

// The last five are the supervisor's; what stands before them is the configuration's.
bool parse(int argc, char** argv, Arguments& out) {
  if (argc < 6) return false;
  argv += argc - 6;
  out.channel = static_cast<int>(number(argv[1]));
  out.supervisor = static_cast<pid_t>(number(argv[2]));
  const long claimant = number(argv[3]);
  if (claimant < 1 || claimant > contract::kMaxProducers) return false;
  out.identity.claimant = static_cast<contract::Claimant>(claimant);
  out.identity.position = static_cast<std::uint32_t>(number(argv[4]));
  out.identity.producers = static_cast<std::uint32_t>(number(argv[5]));
  return out.channel >= 0 && out.identity.producers >= 1;
}

void leave_with_supervisor(pid_t supervisor) {
  // The supervisor starts producers from its main thread, so its end, however it comes, ends this process.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != supervisor) ::_exit(0);  // it died before the line above
  ::prctl(PR_SET_NAME, "feedring-prod");
  // A terminal's ^C and a launcher's group kill are for the trainer: it may still want batches to save its state.
  for (const int sig : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(sig, SIG_IGN);
}

void keep_freed_memory() {
  // Codecs allocate and free per image; giving pages back and faulting them in again costs more than decoding does.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  ::mallopt(M_TOP_PAD, 1 << 20);
  ::mallopt(M_ARENA_MAX, 1);
}

class Producer {
 public:
  Producer(const Arguments& arguments, const MakeFiller& make_filler)
      : arguments_(arguments), make_filler_(make_filler) {}

  [[noreturn]] void run() {
    for (;;) {
      auto message = receive_message(arguments_.channel, -1);
      const std::string op = message->body.value("op", "");
      if (op == "pool") take_pool(*message);
      if (op == "store") take_store(*message);
      if (op == "seek") take_seek(*message);
      if (op == "feed") take_feed(*message);
      if (op == "ring") take_ring(*message);
    }
  }

 private:
  void take_pool(Message& message) {
    pool_ =
        Mapping(message.take_memory(0).get(), Mapping::Access::kReadWrite, sizeof(contract::PoolHeader<std::atomic>));
    feeds_expected_ = message.body.at("feeds").get<std::size_t>();
    pool_.populate(0, pool_.size());
    fault_point("start, with the pool");
    auto& header = *reinterpret_cast<contract::PoolHeader<std::atomic>*>(pool_.data());
    worker_ =
        std::make_unique<Worker>(arguments_.identity, header, [this](const Failure& failure) { report(failure); });
    std::thread([this] { worker_->run(); }).detach();
  }

  void take_store(Message& message) {
    stores_.push_back(std::make_shared<DecodedStore>(
        message.take(0).get(), store_layout_from_json(message.body.at("layout")), arguments_.identity.claimant));
  }

  void take_seek(Message& message) {
    stores_of_seek_.push_back(std::make_shared<SeekStore>(
        message.take(0).get(), seek_layout_from_json(message.body.at("layout")), arguments_.identity.claimant));
  }

  void take_feed(Message& message) {
    const auto number = message.body.at("number").get<std::uint32_t>();
    const FeedSpec spec = spec_in(message, 1);
    FeedStores stores;
    if (message.body.contains("store")) stores.decoded = stores_.at(message.body["store"].get<std::size_t>());
    if (message.body.contains("seek")) stores.seek = stores_of_seek_.at(message.body["seek"].get<std::size_t>());
    auto feed = open_feed(number, spec, message.take(0).get(), std::move(stores));
    const std::scoped_lock lock(feeds_mutex_);
    feeds_[number] = std::move(feed);
    if (feeds_.size() == feeds_expected_) send_message(arguments_.channel, {{"op", "ready"}});
  }

  // Another start would fail the same way: the supervisor is told why there shall be none.
  std::shared_ptr<FeedContext> open_feed(std::uint32_t number, const FeedSpec& spec, int index_fd, FeedStores stores) {
    try {
      return std::make_shared<FeedContext>(number, spec, index_fd, make_filler_, std::move(stores));
    } catch (const std::exception& error) {
      send_message(arguments_.channel, {{"op", "unable"}, {"why", to_utf8(error.what())}});
      throw;
    }
  }

  void take_ring(Message& message) {
    auto mapping = std::make_shared<Mapping>(message.take_memory(0).get(), Mapping::Access::kReadWrite);
    const contract::RingShape shape = read_ring_shape(mapping->bytes());
    fault_point("start, with a ring");
    // The first slot now; the others while the first batch is being made.
    mapping->populate(0, shape.payload_offset + shape.payload_stride);
    worker_->add_ring({feed(message.body.at("feed").get<std::uint32_t>()), mapping, shape});
    mapping->populate(0, mapping->size());
    for (; populated_ < stores_.size(); ++populated_) stores_[populated_]->populate();
  }

  std::shared_ptr<FeedContext> feed(std::uint32_t number) {
    const std::scoped_lock lock(feeds_mutex_);
    return feeds_.at(number);
  }

  void report(const Failure& failure) {
    const std::shared_ptr<FeedContext> context = feed(failure.feed);
    try {
      send_message(arguments_.channel, {{"op", "failure"},
                                        {"feed", context->spec().name},
                                        {"epoch", failure.epoch},
                                        {"ordinal", failure.ordinal},
                                        {"index", failure.sample},
                                        {"path", context->index().called(failure.sample)},
                                        {"bytes", context->index().bytes(failure.sample)},
                                        {"reason", failure.reason},
                                        {"outcome", static_cast<int>(failure.outcome)},
                                        {"ring", failure.place.ring},
                                        {"slot", failure.place.slot},
                                        {"turn", failure.place.turn},
                                        {"row", failure.place.row}});
    } catch (const Error& error) {
      // The pool is ending; the listening thread sees the same and ends this process.
      if (error.kind() != ErrorKind::kPoolGone) throw;
    }
  }

  Arguments arguments_;
  MakeFiller make_filler_;
  std::size_t feeds_expected_ = 0;
  Mapping pool_;
  std::vector<std::shared_ptr<const DecodedStore>> stores_;
  std::size_t populated_ = 0;  // of these
  std::vector<std::shared_ptr<SeekStore>> stores_of_seek_;
  std::unique_ptr<Worker> worker_;
  std::mutex feeds_mutex_;  // inside this process: the listening thread adds, the work loop looks up a failure's feed
  std::map<std::uint32_t, std::shared_ptr<FeedContext>> feeds_;
};

}  // namespace

int run_producer(int argc, char** argv, const MakeFiller& make_filler) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::fprintf(stderr, "%s is a producer: feedring itself starts it; see feedring --help\n",
                 argc > 0 ? argv[0] : "this");
    return exit_code(ErrorKind::kUsage);
  }
  leave_with_supervisor(arguments.supervisor);
  keep_freed_memory();
  try {
    // Never destroyed: the other threads work until the process ends.
    (new Producer(arguments, make_filler))->run();
  } catch (const Error& error) {
    // The supervisor closed the channel: this is how a producer is told to end.
    if (error.kind() == ErrorKind::kPoolGone) ::_exit(0);
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    ::_exit(exit_code(error.kind()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    ::_exit(exit_code(ErrorKind::kInternal));
  }
}

}  // namespace feedring
