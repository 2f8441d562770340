// SPDX-License-Identifier: Apache-2.0
// The pickles in which few-shot data sets are passed around.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "producers/pack/source.hpp"

namespace feedring::pack {

/// Opens one of these, told by what it holds:
/// - `image_data` (n, h, w, 3) and `class_dict` {class: [picture, …]}: mini-ImageNet's cache
/// - `data` (n, h, w, 3), or (n, 3072) as planes, and `labels` or `fine_labels`: MetaOptNet's, CIFAR-FS, FC100 and
/// CIFAR-100,
///   whose names are in the file `meta` beside it, with `coarse_labels` as superclasses
/// - a list of PNG files as arrays, `NAME_images_png.pkl`, with `NAME_labels.pkl` beside it: tieredImageNet
/// Throws Error(kData) for anything else.
[[nodiscard]] std::unique_ptr<Source> open_pickle(const std::filesystem::path& file);

}  // namespace feedring::pack
