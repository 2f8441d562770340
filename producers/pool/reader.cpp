// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace feedring {
namespace {

// Some ten photographs: enough to hide the storage behind the decoder, small beside the rings.
constexpr std::size_t kArenaBytes = 3 * 1024 * 1024;
constexpr std::size_t kMaxJobs = 64;

}  // namespace

Reader::Reader() : arena_(kArenaBytes), queue_(4 * kMaxJobs) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Reader::~Reader() {
  thread_.request_stop();
  EventCount(work_event_).notify_all();
}

void Reader::want(const std::vector<FileRequest>& soon) {
  for (auto& job : jobs_) {
    job->wanted = std::any_of(soon.begin(), soon.end(), [&](const FileRequest& r) { return r.key == job->request.key; });
  }
  collect_garbage();
  bool submitted = false;
  for (const FileRequest& request : soon) {
    const bool known =
        std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->request.key == request.key; });
    if (known) continue;
    if (!submit(request)) break;  // full: the rest is asked for again later
    submitted = true;
  }
  if (submitted) EventCount(work_event_).notify_one();
}

bool Reader::submit(const FileRequest& request) {
  if (jobs_.size() >= kMaxJobs) return false;
  auto job = std::make_unique<Job>();
  job->request = request;
  const std::size_t bytes = request.bytes + kSlack;
  if (bytes > arena_.capacity() / 2) {
    // So large a file would drive all others out of the arena. One of them at a time is enough.
    if (std::any_of(jobs_.begin(), jobs_.end(), [](const auto& other) { return other->own != nullptr; })) return false;
    job->own = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
    job->target = job->own.get();
  } else if (const auto block = arena_.allocate(bytes)) {
    job->target = block->data();
  } else {
    return false;
  }
  queue_.enqueue(job.get());
  jobs_.push_back(std::move(job));
  return true;
}

// Gives back what was read and is not wanted any more. What the reader still works on is kept until it is done.
void Reader::collect_garbage() {
  std::erase_if(jobs_, [this](const std::unique_ptr<Job>& job) {
    if (job->wanted || !job->done.load(std::memory_order_acquire)) return false;
    if (job->own == nullptr) arena_.free(job->target);
    return true;
  });
}

Reader::Bytes Reader::take(const FileRequest& request) {
  if (current_ != nullptr) {
    if (current_->own == nullptr) arena_.free(current_->target);
    current_.reset();
  }
  const auto find = [&] {
    return std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->request.key == request.key; });
  };
  auto found = find();
  while (found == jobs_.end()) {
    // Not read ahead. When the arena is full of what is wanted later, the later ones make room.
    if (submit(request)) {
      EventCount(work_event_).notify_one();
      found = std::prev(jobs_.end());
      break;
    }
    for (auto& job : jobs_) job->wanted = false;
    EventCount done(done_event_);
    done.wait(0, kSleepSliceNs, [&] {
      return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& j) { return j->done.load(std::memory_order_acquire); });
    });
    collect_garbage();
    found = find();
  }
  Job& job = **found;
  const auto done = [&] { return job.done.load(std::memory_order_acquire); };
  if (!done()) {
    const std::uint64_t since = monotonic_ns();
    // A cached file takes some 20 µs: cheaper to spin for than to sleep for.
    while (!done() && monotonic_ns() - since < 50'000) {
    }
    // No deadline here: the supervisor kills a producer whose sample takes too long, also one stuck in a file system.
    while (!done()) EventCount(done_event_).wait(0, kSleepSliceNs, done);
    waited_ns_ += monotonic_ns() - since;
  }
  current_ = std::move(*found);
  jobs_.erase(found);
  if (!current_->fault) bytes_taken_ += request.bytes;
  return {{current_->target, current_->request.bytes}, current_->fault};
}

void Reader::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Job* job = nullptr;
    if (!queue_.try_dequeue(job)) {
      EventCount(work_event_).wait(0, kSleepSliceNs,
                                   [&] { return stop.stop_requested() || queue_.size_approx() != 0; });
      futex_calls_.store(futex_calls_of_this_thread(), std::memory_order_relaxed);
      continue;
    }
    job->fault = read_file(job->request, job->target);
    // Released: the decoder that sees `done` sees the bytes.
    job->done.store(true, std::memory_order_release);
    EventCount(done_event_).notify_one();
  }
}

Fault Reader::read_file(const FileRequest& request, std::uint8_t* target) {
  const auto failed = [](const char* what) { return fmt::format("{}: {}", what, std::strerror(errno)); };
  const std::string path(request.path);  // NUL-terminated
  // Non-blocking, because a FIFO in the data would hang an open for ever.
  const UniqueFd file(::openat(request.directory, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return failed("cannot be opened");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return failed("cannot be examined");
  if (!S_ISREG(info.st_mode)) return "is not a regular file any more";
  if (static_cast<std::uint64_t>(info.st_size) != request.bytes) {
    return fmt::format("has {} bytes where the index has {}: the data changed since the pool started", info.st_size,
                       request.bytes);
  }
  std::uint64_t have = 0;
  while (have < request.bytes) {
    const ssize_t got = ::pread(file.get(), target + have, request.bytes - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot be read");
    if (got == 0) return fmt::format("ended after {} of {} bytes: the data changed while it was read", have, request.bytes);
    have += static_cast<std::uint64_t>(got);
  }
  std::memset(target + request.bytes, 0, kSlack);
  return std::nullopt;
}

}  // namespace feedring
