// SPDX-License-Identifier: Apache-2.0
// The classes of a data set as episodes need them.
#pragma once

#include <vector>

#include "producers/dataset/index.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/plan/class_pool.hpp"

namespace feedring {

/// By class number; empty classes included. Both give the same for the same data.
[[nodiscard]] std::vector<SampleClass> episode_classes(const Index& index);
[[nodiscard]] std::vector<SampleClass> episode_classes(const Scan& scan);

}  // namespace feedring
