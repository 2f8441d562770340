// SPDX-License-Identifier: Apache-2.0
// Files become bytes. What lies in the page cache the decoder thread reads by itself, without waiting and without
// waking anybody; as soon as it meets a file that does not, a reader thread reads ahead while it decodes others.
// Reading ahead is advice, never a claim: bytes that nobody comes for are given back unread.
#pragma once

#include <concurrentqueue/concurrentqueue.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "producers/dataset/member.hpp"
#include "producers/decode/image.hpp"
#include "producers/pool/archive_shelf.hpp"
#include "producers/pool/byte_arena.hpp"
#include "runtime/event_count.hpp"
#include "runtime/memfd.hpp"

namespace feedring {

/// One file to read. `bytes` is what the index says; another size means that the data changed.
struct FileKey {
  std::uint32_t feed = 0;
  std::uint64_t sample = 0;
  bool operator==(const FileKey&) const = default;
};
struct FileRequest {
  FileKey key;
  int directory = -1;     ///< descriptor that `path` is relative to
  std::string_view path;  ///< lives as long as the feed's index
  std::uint64_t bytes = 0;
  /// Set where the file is a member of an archive: `path` is then for messages alone.
  std::shared_ptr<const OpenArchive> archive = nullptr;
  Member member = {};
};

class Reader {
 public:
  Reader();
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // All of these: the decoder thread only.

  /// Says what will be taken soon, the nearest first. What was wanted before and is not among these is forgotten.
  void want(const std::vector<FileRequest>& soon);
  /// False while files come out of the page cache: then want() has nothing to gain.
  [[nodiscard]] bool reads_ahead() const noexcept { return ahead_for_ != 0; }

  struct Bytes {
    std::span<const std::uint8_t> data;  ///< followed by kSlack readable bytes; valid until the next take()
    Fault fault;
    std::uint64_t modified_ns = 0;  ///< when the file was last modified, since 1970
  };
  /// The bytes of a file, read ahead or read now. Waits for the reader thread.
  [[nodiscard]] Bytes take(const FileRequest& request);

  /// Since the start: nanoseconds that take() waited, bytes it handed out, futex calls of the reader thread.
  [[nodiscard]] std::uint64_t waited_ns() const noexcept { return waited_ns_; }
  [[nodiscard]] std::uint64_t bytes_taken() const noexcept { return bytes_taken_; }
  [[nodiscard]] std::uint64_t futex_calls() const noexcept { return futex_calls_.load(std::memory_order_relaxed); }

 private:
  struct Job {
    FileRequest request;
    std::uint8_t* target = nullptr;       // in the arena, or `own`
    std::unique_ptr<std::uint8_t[]> own;  // a file larger than the arena
    std::atomic<bool> done{false};
    bool wanted = true;
    Fault fault;  // this and the next are written before `done`
    std::uint64_t modified_ns = 0;
  };

  std::unique_ptr<Job> make_job(const FileRequest& request);
  bool submit(const FileRequest& request);
  std::unique_ptr<Job> fetch(const FileRequest& request);
  void let_go(Job& job);
  void collect_garbage();
  void run(const std::stop_token& stop);
  static ReadOutcome read(Job& job, Wait wait);
  static ReadOutcome read_file(Job& job, Wait wait);
  static ReadOutcome read_from_archive(Job& job, Wait wait);

  ByteArena arena_;
  std::deque<std::unique_ptr<Job>> jobs_;  // submitted, in order; owned by the decoder thread
  std::unique_ptr<Job> current_;           // what the last take() handed out
  moodycamel::ConcurrentQueue<Job*> queue_;
  contract::Event<std::atomic> work_event_{};
  contract::Event<std::atomic> done_event_{};
  std::atomic<std::uint64_t> futex_calls_{0};
  std::uint32_t ahead_for_ = 0;  // so many files more are read ahead before the page cache is tried again
  std::uint64_t waited_ns_ = 0;
  std::uint64_t bytes_taken_ = 0;
  std::jthread thread_;
};

}  // namespace feedring
