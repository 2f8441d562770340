// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <feedring/error.hpp>
#include <feedring/feed.hpp>
#include <utility>

#include "consumers/attach.hpp"
#include "consumers/feed_owner.hpp"

namespace feedring {
namespace {

using Holder = RingMemory::Holder;

template <class Predicate>
std::uint32_t slots_of(const FeedOwner& owner, Predicate predicate) {
  std::uint32_t count = 0;
  for (std::uint32_t slot = 0; slot < owner.info().slots; ++slot)
    count += predicate(owner.memory().holder(slot)) ? 1 : 0;
  return count;
}

}  // namespace

Feed Feed::attach(const FeedOptions& options) {
  Attachment attachment = attach_to_pool(options, process_environment());
  std::shared_ptr<Device> device = options.device ? options.device : host_device();
  // What is not finished in the slots needs a device with memory of its own to be finished in.
  if (attachment.info.finish && !device->copies()) device = host_device({.copies = true});
  const FeedInfo info = attachment.info;
  try {
    return Feed(
        std::make_unique<FeedOwner>(std::move(attachment), std::move(device), options.deadline, options.stream));
  } catch (...) {
    // The pool takes this process for the ring's owner as long as it lives: it may want to try another way.
    try {
      detach_from_pool(info);
    } catch (const Error&) {
      // What went wrong first is what is told.
    }
    throw;
  }
}

Feed::Feed(std::unique_ptr<FeedOwner> owner) noexcept : owner_(std::move(owner)) {}
Feed::Feed(Feed&&) noexcept = default;
Feed& Feed::operator=(Feed&&) noexcept = default;
Feed::~Feed() = default;

std::optional<Batch> Feed::next() { return owner_->next(owner_->deadline()); }
std::optional<Batch> Feed::next(std::chrono::milliseconds deadline) { return owner_->next(deadline); }
void Feed::start_epoch() { owner_->start_epoch(); }
void Feed::set_epoch(std::uint64_t epoch) { owner_->set_epoch(epoch); }
void Feed::seek(std::uint64_t epoch, std::uint64_t step) { owner_->seek(epoch, step); }
std::string Feed::state() const { return owner_->cursor().state(); }
void Feed::load_state(const std::string& state) { owner_->load_state(state); }

std::string Feed::episode(std::uint64_t epoch, std::uint64_t ordinal) const {
  return ask_for_episode(owner_->info(), owner_->cursor().seed(), epoch, ordinal);
}

std::uint64_t Feed::epoch() const { return owner_->cursor().epoch(); }
std::uint64_t Feed::step() const { return owner_->cursor().step(); }
std::uint64_t Feed::steps_per_epoch() const { return owner_->cursor().steps_per_epoch(); }
std::uint32_t Feed::batch_size() const { return owner_->info().batch_size; }
std::uint64_t Feed::samples() const { return owner_->info().samples; }
std::uint64_t Feed::ordinals() const { return owner_->info().ordinals; }
std::uint64_t Feed::classes() const { return owner_->info().classes; }
std::uint32_t Feed::rank() const { return owner_->info().launch.rank; }
std::uint32_t Feed::world_size() const { return owner_->info().launch.world; }
const std::string& Feed::name() const { return owner_->info().name; }
const std::string& Feed::dataset_digest() const { return owner_->info().dataset_digest; }
FeedStats Feed::stats() const { return owner_->stats(); }
const std::string& Feed::description() const { return owner_->info().description; }
const std::string& Feed::pool() const { return owner_->info().pool; }
std::string Feed::device_note() const { return owner_->memory().device_note(); }
std::uint32_t Feed::slots() const { return owner_->info().slots; }

std::uint32_t Feed::held() const {
  return slots_of(*owner_, [](Holder holder) { return holder == Holder::kUser; });
}

void Feed::detach() {
  const FeedInfo info = owner_->info();
  if (!owner_->memory().is_mine()) {
    throw Error(ErrorKind::kForked, info.what() + ": a forked child cannot give back the ring of its parent");
  }
  (void)owner_->memory().settle();
  if (const auto busy = slots_of(*owner_, [](Holder holder) { return holder != Holder::kNobody; }); busy != 0) {
    throw Error(ErrorKind::kHeld,
                fmt::format("{}: {} of its batches are still held, by the program or by a copy to a device; the ring "
                            "goes back once they are gone",
                            info.what(), busy));
  }
  owner_.reset();
  detach_from_pool(info);
}

}  // namespace feedring
