// SPDX-License-Identifier: Apache-2.0
// A batch as the loader's Python code takes it apart.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <feedring/batch.hpp>
#include <string>
#include <vector>

#include "consumers/python/view.hpp"

namespace feedring::python {

/// The numbers and tensors of one batch. Tensors lie in the slot, or on a device, or, after copy_out(), in memory of
/// their own.
class PyBatch {
 public:
  /// `feed` is kept for as long as a tensor lives.
  PyBatch(Batch batch, std::shared_ptr<const void> feed);

  /// Copies all tensors and gives the slot back; does nothing where they lie on a device, for which the slot has gone
  /// back already, or will with the copy there.
  void copy_out();
  [[nodiscard]] bool copied() const noexcept { return copied_; }

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Its first `wanted` rows. Throws Error(kUsage) for an unknown name.
  [[nodiscard]] View view(const std::string& name, std::uint32_t wanted) const;

  std::uint64_t epoch, step, first_ordinal;
  std::uint32_t valid_rows, rows;

 private:
  std::vector<std::string> names_;
  std::vector<TensorView> tensors_;
  Keeper keeper_;
  const Batch* batch_ = nullptr;  // in the keeper; null after copy_out()
  bool copied_ = false;
};

void bind_batch(nanobind::module_& module);

}  // namespace feedring::python
