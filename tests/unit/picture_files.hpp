// SPDX-License-Identifier: Apache-2.0
// JPEGs in folders of a test's own.
#pragma once

#include <string>

#include "tests/support/jpeg_writer.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring::test {

/// Two classes, data/a and data/b, of `pictures` in all, in turn; each a pixel wider than the one before.
inline void write_two_classes(const DatasetFiles& files, int pictures, int width, int height) {
  for (int i = 0; i < pictures; ++i) {
    JpegShape shape;
    shape.width = width + i;
    shape.height = height;
    const auto bytes = write_jpeg(shape);
    files.text("data/" + std::string(i % 2 == 0 ? "a/" : "b/") + std::to_string(i) + ".jpg",
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
}

}  // namespace feedring::test
