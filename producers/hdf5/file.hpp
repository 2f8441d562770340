// SPDX-License-Identifier: Apache-2.0
// The data sets of an HDF5 file, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "producers/hdf5/handle.hpp"

namespace feedring::hdf5 {

class File {
 public:
  enum class Kind : std::uint8_t {
    kFiles,   ///< a row is bytes of any number
    kPixels,  ///< a row is an array of 8 bit numbers
    kOther,   ///< what is no picture
  };
  struct Dataset {
    std::string name;  ///< with its groups: "datasets/n01532829"
    Kind kind = Kind::kOther;
    std::uint64_t rows = 0;
    std::vector<std::uint64_t> shape;  ///< of a row
    std::uint64_t row_bytes = 0;       ///< of kPixels
    std::string superclass;            ///< its attribute label_general
    Handle handle;
  };

  /// Lists the data sets that lie in it, in the order of their names; links to others, and data sets that lie in other
  /// files, are not followed. Throws std::runtime_error with a sentence's end.
  explicit File(const std::string& path);

  [[nodiscard]] const std::vector<Dataset>& datasets() const noexcept { return datasets_; }
  /// Reads a row of the data set of this number. Throws std::runtime_error.
  void read(std::uint64_t number, std::uint64_t row, std::string& bytes) const;

 private:
  void list(hid_t group, const std::string& before, int depth);
  void add(hid_t group, const std::string& link, const std::string& name);

  Handle file_;
  std::vector<Dataset> datasets_;
};

}  // namespace feedring::hdf5
