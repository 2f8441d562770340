// SPDX-License-Identifier: Apache-2.0
// A trainer for tests: a rank that takes batches, says what it got, one JSON line an event, and ends as training
// programs should: on SIGTERM or SIGINT it takes one more batch, saves its state and exits with 0.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <feedring/cuda.hpp>
#include <feedring/feed.hpp>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::atomic<int> signals_seen = 0;

struct Options {
  std::string feed = "train";
  std::uint64_t batches = 0;  // 0: by epochs
  std::uint64_t epochs = 1;
  std::string load;
  std::string save;
  int pause_ms = 0;
  bool hold = false;
  bool ignore_term = false;
  std::optional<int> fail_rank;
  int fail_code = 0;
  int deadline_s = 60;
  int attach_deadline_s = 60;
  bool states = false;
  std::string device;  // "host": one that plays a GPU; else as feedring::cuda() takes it
  std::string cudart;
};

std::shared_ptr<feedring::Device> make_device(const Options& options) {
  if (options.device.empty()) return nullptr;
  if (options.device == "host")
    return feedring::host_device({.delay = std::chrono::milliseconds(2), .delay_seed = 1, .copies = true});
  return feedring::cuda(options.device, {.runtime = options.cudart});
}

void say(const nlohmann::ordered_json& event) {
  const std::string line = event.dump() + '\n';  // one write: ranks share a file
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(1);
}

class Trainer {
 public:
  explicit Trainer(const Options& options)
      : options_(options),
        device_(make_device(options)),
        feed_(feedring::Feed::attach({.name = options.feed,
                                      .deadline = std::chrono::seconds(options.deadline_s),
                                      .attach_deadline = std::chrono::seconds(options.attach_deadline_s),
                                      .device = device_})) {
    say({{"event", "attached"}, {"rank", feed_.rank()}, {"pid", ::getpid()}, {"steps", feed_.steps_per_epoch()}});
  }

  int run() {
    if (!options_.load.empty()) {
      std::ifstream file(options_.load);
      feed_.load_state({std::istreambuf_iterator<char>(file), {}});
    }
    std::uint64_t epochs = 0;
    while (signals_seen == 0 && (options_.batches != 0 ? taken_ < options_.batches : epochs < options_.epochs)) {
      if (!take()) ++epochs;
      if (options_.fail_rank == static_cast<int>(feed_.rank())) return options_.fail_code;
      std::this_thread::sleep_for(std::chrono::milliseconds(options_.pause_ms));
    }
    while (options_.hold && signals_seen == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (signals_seen != 0) {
      const std::uint64_t before = taken_;
      while (taken_ == before) take();
      // A second signal, or none, is what the test looks for.
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
    const std::string state = feed_.state();
    if (!options_.save.empty()) std::ofstream(options_.save + '.' + std::to_string(feed_.rank())) << state;
    say({{"event", "end"},
         {"rank", feed_.rank()},
         {"batches", taken_},
         {"signals", signals_seen.load()},
         {"state", state}});
    return 0;
  }

 private:
  // False at the end of an epoch.
  bool take() {
    const auto batch = feed_.next();
    if (!batch) return false;
    ++taken_;
    std::vector<std::string> contents(batch->rows());
    for (const std::string_view name : batch->names()) {
      if (name == "labels") break;  // what is in the files lies before them
      const feedring::TensorView view = batch->tensor(name);
      const std::size_t row_bytes = view.bytes / batch->rows();
      const std::vector<char> here = on_the_cpu(view);
      for (std::uint32_t row = 0; row < batch->rows(); ++row)
        contents[row].append(here.data() + row * row_bytes, row_bytes);
    }
    nlohmann::json pixels = nlohmann::json::array();
    for (const std::string& content : contents) pixels.push_back(std::hash<std::string>()(content));
    // One write for the batch and the state after it: whoever dies has said both or neither.
    say({{"event", "batch"},
         {"rank", feed_.rank()},
         {"epoch", batch->epoch()},
         {"step", batch->step()},
         {"first", batch->first_ordinal()},
         {"rows", batch->valid_rows()},
         {"ids", batch->sample_ids()},
         {"labels", batch->labels()},
         {"valid", batch->valid()},
         {"pixels", pixels},
         {"state", options_.states ? feed_.state() : ""}});
    return true;
  }

  [[nodiscard]] std::vector<char> on_the_cpu(const feedring::TensorView& view) const {
    std::vector<char> here(view.bytes);
    if (device_ == nullptr) {
      std::memcpy(here.data(), view.data, view.bytes);
      return here;
    }
    const feedring::CopyPiece piece{reinterpret_cast<std::byte*>(here.data()), static_cast<const std::byte*>(view.data),
                                    view.bytes};
    device_->copy({&piece, 1});
    if (!device_->record()->wait(std::chrono::seconds(options_.deadline_s)))
      throw feedring::Error(feedring::ErrorKind::kDeadline, "a batch did not come back from the device");
    return here;
  }

  const Options& options_;
  std::shared_ptr<feedring::Device> device_;
  feedring::Feed feed_;
  std::uint64_t taken_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("A rank for tests.");
  app.add_option("--feed", options.feed);
  app.add_option("--batches", options.batches);
  app.add_option("--epochs", options.epochs);
  app.add_option("--load", options.load);
  app.add_option("--save", options.save);
  app.add_option("--pause-ms", options.pause_ms);
  app.add_flag("--hold", options.hold, "Stay attached after the last batch, until a signal");
  app.add_flag("--ignore-term", options.ignore_term);
  app.add_option("--fail-rank", options.fail_rank, "This rank fails after its first batch");
  app.add_option("--fail-code", options.fail_code);
  app.add_option("--deadline", options.deadline_s);
  app.add_option("--attach-deadline", options.attach_deadline_s);
  app.add_flag("--states", options.states, "Say with every batch the state after it");
  app.add_option("--device", options.device);
  app.add_option("--cudart", options.cudart);
  CLI11_PARSE(app, argc, argv);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) std::signal(number, [](int) { ++signals_seen; });
  if (options.ignore_term) std::signal(SIGTERM, SIG_IGN);
  try {
    return Trainer(options).run();
  } catch (const feedring::Error& error) {
    const std::string line = std::string("trainer: ") + error.what() + '\n';
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return 1;
    return feedring::exit_code(error.kind());
  }
}
