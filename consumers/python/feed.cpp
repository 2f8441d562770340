// SPDX-License-Identifier: Apache-2.0
#include "consumers/python/feed.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <feedring/cuda.hpp>
#include <feedring/error.hpp>
#include <feedring/feed.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "consumers/python/attached.hpp"
#include "consumers/python/batch.hpp"
#include "runtime/cores.hpp"
#include "runtime/launch_env.hpp"

namespace nb = nanobind;

namespace feedring::python {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kSlice{100};  // how long ^C may have to wait for a wait

milliseconds to_milliseconds(double seconds) {
  return milliseconds(static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9) * 1000));
}

/// Runs the handlers of signals that came; a handler that raised ends the caller. Needs the GIL.
void raise_if_signalled() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

class PyFeed {
 public:
  PyFeed(milliseconds deadline, std::shared_ptr<Attached> attached) noexcept
      : deadline_(deadline), attached_(std::move(attached)) {}
  PyFeed(PyFeed&&) noexcept = default;
  PyFeed& operator=(PyFeed&&) = delete;
  ~PyFeed() {
    if (attached_ != nullptr) attached_->in_use = false;
  }

  [[nodiscard]] Feed& feed() const {
    if (attached_ == nullptr) throw Error(ErrorKind::kUsage, "this feed was closed");
    return attached_->feed();
  }

  /// `stream` is that of the device on which the program will use the batch. In slices, between which signals are
  /// looked at: feedring::Feed::next() may be called again after a deadline.
  [[nodiscard]] std::optional<PyBatch> next(bool copy_last, std::uintptr_t stream) const {
    const std::shared_ptr<Attached> attached = attached_;
    Feed& from = feed();
    attached->use_stream(reinterpret_cast<StreamHandle>(stream));
    for (milliseconds left = deadline_;;) {
      const milliseconds slice = std::min(left, kSlice);
      try {
        const nb::gil_scoped_release others_run;
        std::optional<Batch> batch = from.next(slice);
        if (!batch) return std::nullopt;
        PyBatch taken(std::move(*batch), attached);
        batch.reset();
        if (copy_last && from.held() == from.slots()) taken.copy_out();
        return taken;
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kPoolGone) attached->gone = true;
        if (error.kind() != ErrorKind::kDeadline) throw;
        left -= slice;
        if (left <= milliseconds(0)) throw Error(ErrorKind::kDeadline, of_the_whole_wait(error.what(), slice));
      }
      raise_if_signalled();
    }
  }

  [[nodiscard]] DeviceTag device() const {
    (void)feed();
    return attached_->device();
  }

  void close() {
    std::shared_ptr<Attached> last;
    last.swap(attached_);
    if (last != nullptr) last->in_use = false;
    const nb::gil_scoped_release others_run;
    last.reset();
  }
  [[nodiscard]] bool closed() const noexcept { return attached_ == nullptr; }

 private:
  /// The sentence names the deadline of the call, and that was a slice's.
  [[nodiscard]] std::string of_the_whole_wait(std::string text, milliseconds slice) const {
    const auto within = [](milliseconds time) {
      return fmt::format(" did not come within {} s;", std::chrono::duration<double>(time).count());
    };
    const std::string part = within(slice);
    if (const auto at = text.find(part); at != std::string::npos) text.replace(at, part.size(), within(deadline_));
    return text;
  }

  milliseconds deadline_;
  std::shared_ptr<Attached> attached_;
};

/// Null for the host. What a loader is told is in its arguments, but for where an unusual installation has its runtime.
std::shared_ptr<Device> make_device(const std::string& name) {
  if (name.empty()) return nullptr;
  const std::string runtime = process_environment()("FEEDRING_CUDART").value_or("");
  const nb::gil_scoped_release others_run;
  return cuda(name, {.runtime = runtime});
}

PyFeed attach(const std::string& name, const std::string& pool, const std::string& config, const std::string& pool_key,
              const std::string& command, std::optional<std::uint32_t> rank, std::optional<std::uint32_t> world_size,
              std::optional<std::uint32_t> local_rank, std::optional<std::uint32_t> local_world_size, double deadline,
              double attach_deadline, const std::string& device) {
  FeedOptions options;
  options.name = name;
  options.pool = pool;
  options.config = config;
  options.pool_key = pool_key;
  options.command = command;
  options.rank = rank;
  options.world_size = world_size;
  options.local_rank = local_rank;
  options.local_world_size = local_world_size;
  options.deadline = to_milliseconds(deadline);
  options.attach_deadline = to_milliseconds(attach_deadline);
  options.idle = [] {
    const nb::gil_scoped_acquire interpreter;
    raise_if_signalled();
  };
  options.device = make_device(device);
  // What decides which ring it is. A forked child has none of its parent's.
  const auto said = [](std::optional<std::uint32_t> number) { return number ? std::to_string(*number) : ""; };
  const std::string words[] = {name,
                               pool,
                               pool_key.empty() ? config : pool_key,
                               said(rank),
                               said(world_size),
                               said(local_rank),
                               process_environment()("FEEDRING_POOL").value_or(""),
                               std::to_string(::getpid())};
  const std::string key = fmt::format("{}", fmt::join(words, "\n"));
  if (std::shared_ptr<Attached> before = attached_before(key, name)) {
    if (before->device() != (options.device != nullptr ? options.device->tag() : DeviceTag{})) {
      throw Error(ErrorKind::kRefused,
                  fmt::format("feed '{}': batches of a loader that was closed are still held, on another device; let "
                              "them go before you open the feed for this one",
                              name));
    }
    before->rewind();
    before->in_use = true;
    return {options.deadline, std::move(before)};
  }
  std::shared_ptr<Attached> attached;
  {
    const nb::gil_scoped_release others_run;
    attached = std::make_shared<Attached>(options);
  }
  remember(key, attached);
  return {options.deadline, std::move(attached)};
}

nb::dict launch(std::optional<std::uint32_t> rank, std::optional<std::uint32_t> world_size,
                std::optional<std::uint32_t> local_rank, std::optional<std::uint32_t> local_world_size) {
  const Launch found = read_launch({rank, world_size, local_rank, local_world_size}, process_environment());
  nb::dict said;
  said["rank"] = found.rank;
  said["world_size"] = found.world;
  said["local_rank"] = found.local_rank;
  said["local_world_size"] = found.local_world;
  said["launcher"] = std::string(name_of(found.launcher));
  said["from_environment"] = found.launcher != Launcher::kNone;
  return said;
}

nb::dict to_dict(const FeedStats& stats) {
  nb::dict sums;
  sums["batches"] = stats.batches;
  sums["samples"] = stats.samples;
  sums["failed"] = stats.failed;
  sums["wait_s"] = static_cast<double>(stats.wait_ns) * 1e-9;
  sums["futex_calls"] = stats.futex_calls;
  sums["staged"] = stats.staged;
  return sums;
}

}  // namespace

void bind_feed(nb::module_& module) {
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  module.def("launch", &launch, nb::arg("rank") = nb::none(), nb::arg("world_size") = nb::none(),
             nb::arg("local_rank") = nb::none(), nb::arg("local_world_size") = nb::none(),
             "Which rank this process is, from the arguments and the launcher's environment, as attach() sees it.");
  module.def(
      "granted_cores", [] { return granted_cores().cores; },
      "Cores that this process may use: affinity mask and processor quotas; the default number of producers.");
  nb::class_<PyFeed>(module, "Feed", "A rank's end of a feed, as <feedring/feed.hpp> describes it.")
      .def_static("attach", &attach, nb::kw_only(), nb::arg("name"), nb::arg("pool") = "", nb::arg("config") = "",
                  nb::arg("pool_key") = "", nb::arg("command") = "", nb::arg("rank") = nb::none(),
                  nb::arg("world_size") = nb::none(), nb::arg("local_rank") = nb::none(),
                  nb::arg("local_world_size") = nb::none(), nb::arg("deadline") = 120.0,
                  nb::arg("attach_deadline") = 60.0, nb::arg("device") = "",
                  "Connects to the pool, or starts one from `config`, and maps this rank's ring. Deadlines in seconds. "
                  "`device`: cuda or cuda:N, where batches shall be; empty: in main memory.")
      .def("next", &PyFeed::next, nb::arg("copy_last") = false, nb::arg("stream") = 0,
           "The next batch; once None behind the last one of an epoch. `copy_last`: a batch that takes the last free "
           "slot is copied. `stream`: handle of the device's stream on which the batch will be used. Waits without the "
           "GIL; a signal's handler that raises ends the wait, and no batch is lost.")
      .def(
          "start_epoch", [](const PyFeed& self) { self.feed().start_epoch(); }, released)
      .def(
          "set_epoch", [](const PyFeed& self, std::uint64_t epoch) { self.feed().set_epoch(epoch); }, nb::arg("epoch"),
          released)
      .def(
          "seek", [](const PyFeed& self, std::uint64_t epoch, std::uint64_t step) { self.feed().seek(epoch, step); },
          nb::arg("epoch"), nb::arg("step"), released)
      .def(
          "state", [](const PyFeed& self) { return self.feed().state(); }, "One line of JSON.")
      .def(
          "load_state", [](const PyFeed& self, const std::string& state) { self.feed().load_state(state); },
          nb::arg("state"), released)
      .def(
          "episode",
          [](const PyFeed& self, std::uint64_t epoch, std::uint64_t ordinal) {
            return self.feed().episode(epoch, ordinal);
          },
          nb::arg("epoch"), nb::arg("ordinal"), released, "Which classes and samples it has: one line of JSON.")
      .def(
          "stats", [](const PyFeed& self) { return to_dict(self.feed().stats()); }, "Sums since attach.")
      .def("close", &PyFeed::close, "Gives the ring back, at once or when the last view of its batches is gone.")
      .def_prop_ro("closed", &PyFeed::closed)
      .def_prop_ro("epoch", [](const PyFeed& self) { return self.feed().epoch(); })
      .def_prop_ro("step", [](const PyFeed& self) { return self.feed().step(); })
      .def_prop_ro("steps_per_epoch", [](const PyFeed& self) { return self.feed().steps_per_epoch(); })
      .def_prop_ro("batch_size", [](const PyFeed& self) { return self.feed().batch_size(); })
      .def_prop_ro("samples", [](const PyFeed& self) { return self.feed().samples(); })
      .def_prop_ro("ordinals", [](const PyFeed& self) { return self.feed().ordinals(); })
      .def_prop_ro("classes", [](const PyFeed& self) { return self.feed().classes(); })
      .def_prop_ro("rank", [](const PyFeed& self) { return self.feed().rank(); })
      .def_prop_ro("world_size", [](const PyFeed& self) { return self.feed().world_size(); })
      .def_prop_ro("dataset_digest", [](const PyFeed& self) { return self.feed().dataset_digest(); })
      .def_prop_ro(
          "description", [](const PyFeed& self) { return self.feed().description(); },
          "The feed's keys as the pool runs it, and its number of producers: one line of JSON.")
      .def_prop_ro(
          "pool", [](const PyFeed& self) { return self.feed().pool(); }, "Where its pool listens.")
      .def_prop_ro(
          "device",
          [](const PyFeed& self) {
            const DeviceTag device = self.device();
            return nb::make_tuple(static_cast<std::int32_t>(device.type), device.index);
          },
          "Where batches lie, in DLPack's numbers: (1, 0) is main memory, (2, n) is cuda:n.")
      .def_prop_ro("slots", [](const PyFeed& self) { return self.feed().slots(); })
      .def_prop_ro("held", [](const PyFeed& self) { return self.feed().held(); });
}

}  // namespace feedring::python
