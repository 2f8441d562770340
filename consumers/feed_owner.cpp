// SPDX-License-Identifier: Apache-2.0
#include "consumers/feed_owner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <feedring/error.hpp>
#include <utility>

#include "consumers/batch_content.hpp"
#include "consumers/failures.hpp"
#include "consumers/stall.hpp"
#include "runtime/event_count.hpp"
#include "runtime/fault_point.hpp"
#include "runtime/process.hpp"

namespace feedring {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr std::uint32_t kSleeper = 0;                      // the ring's ready event has one: the owner
constexpr std::uint64_t kLookAfterNs = kSleepSliceNs / 2;  // a system call: not for every short wait
constexpr std::uint64_t kLongestTickNs = 1'000'000'000;    // more passed: this process was stopped, which is no wait
constexpr int kSpins = 100;                                // some microseconds, the price of a sleep and a wake

std::shared_ptr<RingMemory> map(const Attachment& attachment, std::shared_ptr<Device> device) {
  const FeedInfo& info = attachment.info;
  auto memory = RingMemory::map(info.what(), attachment.ring.get(), attachment.pool.get(), std::move(device));
  const contract::RingShape& shape = memory->ring().shape();
  if (shape.rows != info.batch_size || shape.slots != info.slots) {
    throw Error(ErrorKind::kRefused, fmt::format("{}: the ring has {} slots of {} rows where the feed has {} of {}",
                                                 info.what(), shape.slots, shape.rows, info.slots, info.batch_size));
  }
  return memory;
}

}  // namespace

class FeedOwner::Entry {
 public:
  explicit Entry(FeedOwner& owner) : owner_(owner), calls_(futex_calls_of_this_thread()) {
    if (!owner.memory_->is_mine()) {
      throw Error(ErrorKind::kForked,
                  owner.info_.what() +
                      ": a forked child cannot use the feed of its parent; attach a feed of its own or "
                      "start the child with exec");
    }
    if (owner.inside_.exchange(true, std::memory_order_acquire)) {
      throw Error(ErrorKind::kUsage,
                  owner.info_.what() +
                      ": two threads used the feed at once; one thread owns it, others may only release "
                      "batches");
    }
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    owner_.memory_->ring().header().futex_calls.fetch_add(futex_calls_of_this_thread() - calls_, kRelaxed);
    owner_.inside_.store(false, std::memory_order_release);
  }

 private:
  FeedOwner& owner_;
  std::uint64_t calls_;
};

FeedOwner::FeedOwner(Attachment attachment, std::shared_ptr<Device> device, std::chrono::milliseconds deadline,
                     std::function<StreamHandle()> stream)
    : info_(attachment.info),
      supervisor_(std::move(attachment.supervisor)),
      memory_(map(attachment, std::move(device))),
      deadline_(deadline),
      cursor_(info_.cursor()),
      table_(memory_),
      populated_(memory_->ring().shape().slots) {
  if (memory_->device()->copies()) copies_.emplace(memory_, std::move(stream), info_.finish);
  memory_->populate_control();
  fault_point("attach, with the memory");
  auto& header = memory_->ring().header();
  header.waiting.store(0, kRelaxed);
  futex_calls_before_ = header.futex_calls.load(kRelaxed);
  if (table_.pristine()) {
    realign();
  } else {
    table_.adopt();
  }
}

void FeedOwner::realign() {
  aligned_ = true;
  table_.align(cursor_);
  table_.tend(cursor_);
}

void FeedOwner::start_epoch() {
  const Entry entry(*this);
  cursor_.start_epoch();
  if (aligned_) realign();
}

void FeedOwner::set_epoch(std::uint64_t epoch) {
  const Entry entry(*this);
  cursor_.set_epoch(epoch);
  if (aligned_) realign();
}

void FeedOwner::seek(std::uint64_t epoch, std::uint64_t step) {
  const Entry entry(*this);
  cursor_.seek(epoch, step);
  realign();
}

void FeedOwner::load_state(const std::string& state) {
  const Entry entry(*this);
  cursor_.load_state(state);
  realign();
}

std::optional<Batch> FeedOwner::next(std::chrono::milliseconds deadline) {
  const Entry entry(*this);
  memory_->ring().header().iterated.store(1, kRelaxed);
  if (!aligned_) realign();
  if (cursor_.at_end()) {
    if (!cursor_.end_told()) {
      cursor_.tell_end();
      table_.tend(cursor_);
      return std::nullopt;
    }
    cursor_.roll();
  }
  for (;;) {
    const std::uint32_t slot = wait_for_next(deadline);
    if (auto batch = deliver(slot, deadline)) {
      if (copies_) copy_ahead();
      return batch;
    }
  }
}

std::optional<std::uint32_t> FeedOwner::ready_slot() const {
  const auto slot = table_.next_slot();
  return slot && table_.ready(*slot) ? slot : std::nullopt;
}

std::uint32_t FeedOwner::wait_for_next(std::chrono::milliseconds deadline) {
  // Also where the next batch is ready: a rank that never has to wait would else go on alone while the others end.
  throw_if_broken();
  table_.tend(cursor_);
  auto slot = ready_slot();
  if (!slot) {
    auto& header = memory_->ring().header();
    header.waiting.store(1, kRelaxed);
    const std::uint64_t start = monotonic_ns();
    const auto stop_waiting = [&] {
      header.waiting.store(0, kRelaxed);
      const std::uint64_t waited = monotonic_ns() - start;
      header.wait_ns.fetch_add(waited, kRelaxed);
      stats_.wait_ns += waited;
    };
    try {
      slot = sleep_until_ready(deadline);
    } catch (...) {
      stop_waiting();
      throw;
    }
    stop_waiting();
  }
  populate(*slot);
  return *slot;
}

std::uint32_t FeedOwner::sleep_until_ready(std::chrono::milliseconds deadline) {
  const auto patience = static_cast<std::uint64_t>(std::max<std::int64_t>(deadline.count(), 0)) * 1'000'000;
  std::uint64_t waited = 0;
  std::uint64_t tick = monotonic_ns();
  std::uint64_t looked = tick;
  EventCount ready(memory_->ring().header().ready);
  for (;;) {
    table_.tend(cursor_);
    const auto slot = table_.next_slot();
    for (int spin = 0; slot && spin < kSpins; ++spin) {
      if (table_.ready(*slot)) return *slot;
      spin_pause();
    }
    if (table_.user_holds_all()) {
      throw Error(
          ErrorKind::kHeld,
          fmt::format("{}: you hold all {} slots of the ring, so that no batch can come; let batches (and tensors made "
                      "from them) go before asking for the next one, or raise `slots`",
                      info_.what(), info_.slots));
    }
    if (table_.blocked_by_later()) {
      table_.raise_plan();
      continue;
    }
    if (populate_one()) continue;
    throw_if_broken();
    throw_if_device_failed();
    if (gone_) throw_gone();
    if (waited >= patience) throw_deadline(deadline);

    ready.wait(kSleeper, std::min(kSleepSliceNs, patience - waited),
               [this] { return ready_slot() || table_.something_to_take_back(); });
    const std::uint64_t now = monotonic_ns();
    waited += std::min(now - tick, kLongestTickNs);
    tick = now;
    if (now - looked >= kLookAfterNs) {
      looked = now;
      gone_ = is_dead(supervisor_.get());  // what is ready is still delivered: the loop looks there first
    }
  }
}

void FeedOwner::throw_if_broken() const {
  const auto& pool = memory_->pool();
  const std::uint32_t broken = pool.broken.load(std::memory_order_acquire);
  if (broken == 0) return;
  char why[sizeof pool.why];
  std::memcpy(why, pool.why, sizeof why);
  const std::string text(why, std::min<std::size_t>(pool.why_length, sizeof why));
  const bool known = broken - 1 <= static_cast<std::uint32_t>(ErrorKind::kForked);
  throw Error(known ? static_cast<ErrorKind>(broken - 1) : ErrorKind::kInternal, info_.what() + ": " + text);
}

// Its slots do not come back; the wait would end by the deadline.
void FeedOwner::throw_if_device_failed() const {
  if (!copies_) return;
  const std::string why = memory_->device()->failure();
  if (!why.empty()) throw Error(ErrorKind::kInternal, info_.what() + ": " + why);
}

void FeedOwner::throw_gone() const {
  throw Error(ErrorKind::kPoolGone,
              fmt::format("{}: the pool died before epoch {}, step {} was ready; save the state and start again",
                          info_.what(), cursor_.epoch(), cursor_.step()));
}

void FeedOwner::throw_deadline(std::chrono::milliseconds deadline) const {
  throw Error(ErrorKind::kDeadline,
              fmt::format("{}: epoch {}, step {} did not come within {} s; {}", info_.what(), cursor_.epoch(),
                          cursor_.step(), std::chrono::duration<double>(deadline).count(),
                          describe_stall(*memory_, table_.next_slot(), monotonic_ns())));
}

std::optional<Batch> FeedOwner::deliver(std::uint32_t slot, std::chrono::milliseconds deadline) {
  const Wanted wanted = *cursor_.want(0);
  const RowSummary rows = summarize_rows(*memory_, slot, wanted.share.valid);
  if (rows.incomplete && table_.adopted(slot)) {
    table_.reoffer(slot);
    return std::nullopt;
  }
  std::shared_ptr<const DeviceBatch> on_device;
  if (copies_) on_device = copies_->take(slot, deadline);
  table_.lend(slot);
  // Gives the slot back, also by a throw.
  auto content = std::make_shared<const BatchContent>(memory_, slot, wanted, std::move(on_device));
  table_.advance();
  cursor_.advance();
  if (rows.incomplete) {
    throw Error(ErrorKind::kInternal,
                fmt::format("{}: slot {} came back with rows that nobody wrote", info_.what(), slot));
  }
  count_failures(*content, rows);
  auto& header = memory_->ring().header();
  header.batches.fetch_add(1, kRelaxed);
  header.samples.fetch_add(wanted.share.valid, kRelaxed);
  ++stats_.batches;
  stats_.samples += wanted.share.valid;
  return Batch(std::move(content));
}

void FeedOwner::copy_ahead() noexcept {
  try {
    table_.tend(cursor_);
    const auto slot = ready_slot();
    if (slot && !table_.adopted(*slot)) copies_->begin(*slot);
  } catch (const std::exception&) {
    // Whatever it is, the call that wants this batch meets it again, and tells.
  }
}

void FeedOwner::count_failures(const BatchContent& batch, const RowSummary& rows) {
  const Wanted& wanted = batch.wanted;
  const std::uint32_t parts = memory_->ring().shape().parts;
  if (std::exchange(failed_epoch_, wanted.epoch) != wanted.epoch || wanted.step == 0) failed_in_epoch_ = 0;
  failed_in_epoch_ += rows.replaced;  // what is raised has been told already
  stats_.failed += rows.raised + rows.replaced;
  if (rows.raised > 0) {
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: {} of {} samples of epoch {}, step {} failed, the first in row {}: {}; repair or remove the "
                    "file, or choose on_error = \"replace\" or \"zero\"",
                    info_.what(), rows.raised, std::uint64_t{wanted.share.valid} * parts, wanted.epoch, wanted.step,
                    rows.first_raised / parts, failure_text(*memory_, batch.slot, rows.first_raised)));
  }
  const std::uint64_t share = cursor_.share_of_epoch() * parts;
  const std::uint64_t allowed = allowed_failures(info_.error_budget, share);
  if (failed_in_epoch_ > allowed) {
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: {} samples of epoch {} failed up to step {}, more than the {} of {} that error_budget = {} "
                    "allows; `feedring check` lists the files that cannot be decoded",
                    info_.what(), failed_in_epoch_, wanted.epoch, wanted.step, allowed, share, info_.error_budget));
  }
}

bool FeedOwner::populate_one() noexcept {
  const auto missing = std::find(populated_.begin(), populated_.end(), false);
  if (missing == populated_.end()) return false;
  populate(static_cast<std::uint32_t>(missing - populated_.begin()));
  return true;
}

void FeedOwner::populate(std::uint32_t slot) noexcept {
  if (populated_[slot]) return;
  populated_[slot] = true;
  memory_->populate_slot(slot);
}

FeedStats FeedOwner::stats() const {
  FeedStats stats = stats_;
  if (!memory_->is_mine()) return stats;
  stats.futex_calls = memory_->ring().header().futex_calls.load(kRelaxed) - futex_calls_before_;
  if (copies_) stats.staged = copies_->staged();
  return stats;
}

}  // namespace feedring
