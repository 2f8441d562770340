// SPDX-License-Identifier: Apache-2.0
// What a feed wants of its data.
#pragma once

#include "producers/config/feed_spec.hpp"
#include "producers/dataset/choice.hpp"

namespace feedring {

[[nodiscard]] inline DataChoice data_choice(const FeedSpec& spec) {
  return {spec.split, spec.classes, spec.class_depth, spec.columns};
}

/// The same where the names of its columns are numbered as in another feed, by columns of the same names there.
[[nodiscard]] inline DataChoice data_choice(const FeedSpec& spec, const std::vector<ColumnSpec>& numbered) {
  DataChoice choice = data_choice(spec);
  for (ColumnSpec& column : choice.columns) {
    for (const ColumnSpec& other : numbered) {
      if (other.name == column.name && other.kind == column.kind) column.classes = other.classes;
    }
  }
  return choice;
}

}  // namespace feedring
