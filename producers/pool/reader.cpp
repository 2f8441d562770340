// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/fault_point.hpp"

namespace feedring {
namespace {

// Some ten photographs: enough to hide the storage behind the decoder, small beside the rings.
constexpr std::size_t kArenaBytes = 3 * 1024 * 1024;
constexpr std::size_t kMaxJobs = 64;
// Files that are read ahead, once one was not in the page cache, before the next is tried there.
constexpr std::uint32_t kProbeAfter = 256;

std::uint64_t modified_ns(const struct stat& info) noexcept {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(info.st_mtim.tv_sec) * kSecond + static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
}

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
    job->wanted =
        std::any_of(soon.begin(), soon.end(), [&](const FileRequest& r) { return r.key == job->request.key; });
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

// Memory for a file, or nothing while it is taken by what was read ahead.
std::unique_ptr<Reader::Job> Reader::make_job(const FileRequest& request) {
  if (jobs_.size() >= kMaxJobs) return nullptr;
  auto job = std::make_unique<Job>();
  job->request = request;
  const std::size_t bytes = request.bytes + kSlack;
  if (bytes > arena_.capacity() / 2) {
    // So large a file would drive all others out of the arena. One of them at a time is enough.
    if (std::any_of(jobs_.begin(), jobs_.end(), [](const auto& other) { return other->own != nullptr; }))
      return nullptr;
    job->own = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
    job->target = job->own.get();
    return job;
  }
  const auto block = arena_.allocate(bytes);
  if (!block) return nullptr;
  job->target = block->data();
  return job;
}

bool Reader::submit(const FileRequest& request) {
  auto job = make_job(request);
  if (job == nullptr) return false;
  queue_.enqueue(job.get());
  jobs_.push_back(std::move(job));
  return true;
}

void Reader::let_go(Job& job) {
  if (job.own == nullptr) arena_.free(job.target);
}

// Gives back what was read and is not wanted any more. What the reader still works on is kept until it is done.
void Reader::collect_garbage() {
  std::erase_if(jobs_, [this](const std::unique_ptr<Job>& job) {
    if (job->wanted || !job->done.load(std::memory_order_acquire)) return false;
    let_go(*job);
    return true;
  });
}

Reader::Bytes Reader::take(const FileRequest& request) {
  if (current_ != nullptr) let_go(*current_);
  current_.reset();
  current_ = fetch(request);
  if (!current_->fault) bytes_taken_ += request.bytes;
  return {{current_->target, current_->request.bytes}, current_->fault, current_->modified_ns};
}

std::unique_ptr<Reader::Job> Reader::fetch(const FileRequest& request) {
  const auto find = [&] {
    return std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& job) { return job->request.key == request.key; });
  };
  if (ahead_for_ != 0) --ahead_for_;
  auto found = find();
  if (found == jobs_.end() && ahead_for_ == 0) {
    if (auto job = make_job(request)) {
      if (read(*job, Wait::kNever) != ReadOutcome::kNotCached) return job;
      // Storage is slower than decoding: from here on it works beside us.
      ahead_for_ = kProbeAfter;
      queue_.enqueue(job.get());
      jobs_.push_back(std::move(job));
      EventCount(work_event_).notify_one();
      found = std::prev(jobs_.end());
    }
  }
  while (found == jobs_.end()) {
    if (submit(request)) {
      EventCount(work_event_).notify_one();
      found = std::prev(jobs_.end());
      break;
    }
    // What is wanted later makes room for what is wanted now.
    for (auto& job : jobs_) job->wanted = false;
    EventCount(done_event_).wait(0, kSleepSliceNs, [&] {
      return std::any_of(jobs_.begin(), jobs_.end(),
                         [](const auto& j) { return j->done.load(std::memory_order_acquire); });
    });
    collect_garbage();
    found = find();
  }
  const Job& job = **found;
  const auto done = [&] { return job.done.load(std::memory_order_acquire); };
  if (!done()) {
    const std::uint64_t since = monotonic_ns();
    // No deadline here: the supervisor kills a producer whose sample takes too long, also one stuck in a file system.
    while (!done()) EventCount(done_event_).wait(0, kSleepSliceNs, done);
    waited_ns_ += monotonic_ns() - since;
  }
  auto taken = std::move(*found);
  jobs_.erase(found);
  return taken;
}

void Reader::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Job* job = nullptr;
    if (!queue_.try_dequeue(job)) {
      EventCount(work_event_).wait(0, kSleepSliceNs, [&] {
        return stop.stop_requested() || queue_.size_approx() != 0;
      });
      futex_calls_.store(futex_calls_of_this_thread(), std::memory_order_relaxed);
      continue;
    }
    (void)read(*job, Wait::kForStorage);
    fault_point("read ahead, before it is done");
    // Released: the decoder that sees `done` sees the bytes.
    job->done.store(true, std::memory_order_release);
    EventCount(done_event_).notify_one();
  }
}

ReadOutcome Reader::read_file(Job& job, Wait wait) {
  const FileRequest& request = job.request;
  const auto fail = [&](std::string why) {
    job.fault = std::move(why);
    return ReadOutcome::kFault;
  };
  const auto fail_with_errno = [&](const char* what) {
    return fail(fmt::format("{}: {}", what, std::strerror(errno)));
  };
  // The path ends in a NUL (Index::path). Non-blocking, because a FIFO in the data would hang an open for ever.
  const UniqueFd file(::openat(request.directory, request.path.data(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return fail_with_errno("cannot be opened");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_with_errno("cannot be examined");
  if (!S_ISREG(info.st_mode)) return fail("is not a regular file any more");
  if (static_cast<std::uint64_t>(info.st_size) != request.bytes) {
    return fail(fmt::format("has {} bytes where the index has {}: the data changed since the pool started",
                            info.st_size, request.bytes));
  }
  job.modified_ns = modified_ns(info);
  return read_at(file.get(), 0, job.target, request.bytes, wait, request.path, job.fault);
}

ReadOutcome Reader::read_from_archive(Job& job, Wait wait) {
  const FileRequest& request = job.request;
  const OpenArchive& archive = *request.archive;
  struct stat info {};
  if (!archive.fault && ::fstat(archive.file.get(), &info) != 0) {
    job.fault = fmt::format("lies in an archive that cannot be examined: {}", std::strerror(errno));
    return ReadOutcome::kFault;
  }
  job.fault = archive.fault;
  if (job.fault) return ReadOutcome::kFault;
  job.modified_ns = modified_ns(info);
  return read_member(archive.file.get(), archive.bytes, request.member, job.target, request.bytes, wait, request.path,
                     job.fault);
}

ReadOutcome Reader::read(Job& job, Wait wait) {
  const ReadOutcome outcome = job.request.archive == nullptr ? read_file(job, wait) : read_from_archive(job, wait);
  std::memset(job.target + job.request.bytes, 0, kSlack);
  return outcome;
}

}  // namespace feedring
