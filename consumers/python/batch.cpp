// SPDX-License-Identifier: Apache-2.0
#include "consumers/python/batch.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <feedring/error.hpp>
#include <new>
#include <optional>
#include <utility>

namespace nb = nanobind;

namespace feedring::python {
namespace {

constexpr std::size_t kAlignment = 64;  // as in a slot

/// Destroyed in this order: the batch, which gives its memory back, then the feed, which may give the ring back.
struct Held {
  std::shared_ptr<const void> feed;
  Batch batch;
};

std::size_t rounded(std::uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

PyBatch::PyBatch(Batch batch, std::shared_ptr<const void> feed)
    : epoch(batch.epoch()),
      step(batch.step()),
      first_ordinal(batch.first_ordinal()),
      valid_rows(batch.valid_rows()),
      rows(batch.rows()) {
  for (const std::string_view name : batch.names()) {
    if (name == "status") continue;  // between producers and rank: `valid` is what it means for the user
    names_.emplace_back(name);
    tensors_.push_back(batch.tensor(name));
  }
  const auto held = std::make_shared<const Held>(Held{std::move(feed), std::move(batch)});
  batch_ = &held->batch;
  keeper_ = held;
}

void PyBatch::copy_out() {
  if (tensors_.front().device.type != DeviceType::kCpu) return;
  std::size_t bytes = 0;
  for (const TensorView& tensor : tensors_) bytes += rounded(tensor.bytes);
  const std::shared_ptr<void> memory(std::aligned_alloc(kAlignment, bytes), std::free);
  if (memory == nullptr) throw std::bad_alloc();
  auto* to = static_cast<std::byte*>(memory.get());
  for (TensorView& tensor : tensors_) {
    std::memcpy(to, tensor.data, tensor.bytes);
    tensor.data = to;
    to += rounded(tensor.bytes);
  }
  batch_ = nullptr;
  keeper_ = memory;
  copied_ = true;
}

View PyBatch::view(const std::string& name, std::uint32_t wanted) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("a batch has no tensor '{}'; it has: {}", name, fmt::join(names_, ", ")));
  }
  return {first_rows(tensors_[static_cast<std::size_t>(found - names_.begin())], std::min(wanted, rows)), keeper_,
          batch_};
}

void bind_batch(nb::module_& module) {
  nb::class_<PyBatch>(module, "Batch", "One batch: named tensors, and where it stands in the epoch.")
      .def_prop_ro("names", &PyBatch::names, "Names of its tensors.")
      .def(
          "view",
          [](const PyBatch& self, const std::string& name, std::optional<std::uint32_t> rows) {
            return self.view(name, rows.value_or(self.rows));
          },
          nb::arg("name"), nb::arg("rows") = nb::none(),
          "A tensor, or its first `rows` rows. Raises UsageError for an unknown name.")
      .def(
          "capsules",
          [](const PyBatch& self, const std::vector<std::string>& names, std::uint32_t rows) {
            nb::list list;
            for (const std::string& name : names) list.append(self.view(name, rows).capsule());
            return list;
          },
          nb::arg("names"), nb::arg("rows"),
          "The first `rows` rows of several tensors as DLPack capsules, on a device for the stream of next().")
      .def_prop_ro("copied", &PyBatch::copied, "It lies in memory of its own, not in a slot of the ring.")
      .def_ro("epoch", &PyBatch::epoch)
      .def_ro("step", &PyBatch::step, "Within the epoch, from 0.")
      .def_ro("first_ordinal", &PyBatch::first_ordinal, "Position of row 0 in the epoch's global order.")
      .def_ro("valid_rows", &PyBatch::valid_rows, "Rows of this rank's share; those behind repeat samples.")
      .def_ro("rows", &PyBatch::rows, "Rows of every tensor.");
}

}  // namespace feedring::python
