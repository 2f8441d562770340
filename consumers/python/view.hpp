// SPDX-License-Identifier: Apache-2.0
// One tensor as Python sees it: DLPack and the buffer protocol over memory that somebody else keeps.
#pragma once

#include <nanobind/nanobind.h>

#include <feedring/batch.hpp>
#include <memory>

namespace feedring::python {

/// What keeps the memory of a view: a batch and the feed that it belongs to, or a copy. Its end needs no GIL.
using Keeper = std::shared_ptr<const void>;

class View {
 public:
  /// `batch` is what `keeper` keeps; null: a copy.
  View(TensorView tensor, Keeper keeper, const Batch* batch)
      : tensor_(tensor), keeper_(std::move(keeper)), batch_(batch) {}

  [[nodiscard]] const TensorView& tensor() const noexcept { return tensor_; }
  /// Work on that stream of the device may use it from now on; in main memory nothing is to be done.
  void use_on(StreamHandle stream) const;
  /// A "dltensor" capsule; the tensor that is made of it keeps the memory.
  [[nodiscard]] nanobind::object capsule() const;

 private:
  TensorView tensor_;
  Keeper keeper_;
  const Batch* batch_;
};

/// The first `rows` rows.
[[nodiscard]] TensorView first_rows(TensorView tensor, std::uint32_t rows) noexcept;

void bind_view(nanobind::module_& module);

}  // namespace feedring::python
