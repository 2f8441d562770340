// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/importable.hpp"

#include <fmt/format.h>

#include <array>
#include <feedring/error.hpp>
#include <fstream>
#include <system_error>

#include "producers/dataset/labels.hpp"

namespace feedring {

std::optional<Importable> importable(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;  // a pipe would be waited for
  const std::filesystem::path extension = file.extension();
  if (extension == ".pkl" || extension == ".pickle") return Importable::kPickle;
  if (extension == ".npz") return Importable::kNpz;
  if (extension == ".hdf5" || extension == ".h5") return Importable::kHdf5;
  if (extension == ".tfrecords") return Importable::kRecords;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 2> begin{};
  stream.read(begin.data(), begin.size());
  const bool pickle = stream.gcount() == 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
  return pickle ? std::optional(Importable::kPickle) : std::nullopt;
}

void refuse_importable(const std::filesystem::path& file) {
  static constexpr std::array<const char*, 4> kNames = {"a pickle", "an .npz", "an HDF5 file", "a file of records"};
  const std::optional<Importable> what = importable(file);
  if (!what) return;
  throw Error(ErrorKind::kData,
              fmt::format("{} is {}, which no feed reads as it lies: import it first (feedring import {} PACK.tar)",
                          dataset::shown(file.native()), kNames.at(static_cast<std::size_t>(*what)),
                          *what == Importable::kRecords ? "FOLDER" : file.filename().native()));
}

}  // namespace feedring
