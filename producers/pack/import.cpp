// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/import.hpp"

#include <fmt/format.h>

#include <feedring/error.hpp>
#include <optional>
#include <string_view>

#include "producers/dataset/importable.hpp"
#include "producers/dataset/labels.hpp"
#include "producers/pack/meta_dataset.hpp"
#include "producers/pack/npz.hpp"
#include "producers/pack/pickled.hpp"
#include "producers/pack/torchmeta.hpp"

namespace feedring::pack {
namespace {

void refuse(const Import& wanted, std::string_view kind, std::string_view leave) {
  throw Error(ErrorKind::kUsage, fmt::format("{} is {}: leave {} out, and choose from the pack",
                                             dataset::shown(wanted.data.native()), kind, leave));
}

void demand_all_classes(const Import& wanted, std::string_view kind) {
  if (wanted.has_classes) refuse(wanted, kind, "--classes");
  if (wanted.has_files) refuse(wanted, kind, "--class-depth, --files and --limit");
}

void demand_whole(const Import& wanted, std::string_view kind) {
  if (!wanted.split.empty()) refuse(wanted, kind, "--split");
  demand_all_classes(wanted, kind);
}

}  // namespace

std::unique_ptr<Source> open_import(const Import& wanted) {
  if (is_meta_dataset(wanted.data)) {
    demand_all_classes(wanted, "of Meta-Dataset");
    return open_meta_dataset(wanted.data, wanted.split);
  }
  if (const auto torchmeta = find_torchmeta(wanted.data, wanted.split)) {
    demand_all_classes(wanted, "of TorchMeta");
    return open_torchmeta(*torchmeta, wanted.hdf5);
  }
  const std::optional<Importable> what = importable(wanted.data);
  if (what == Importable::kNpz) {
    demand_whole(wanted, "an .npz, which is packed whole");
    return open_npz(wanted.data, wanted.beside);
  }
  if (what == Importable::kPickle) {
    demand_whole(wanted, "a pickle, which is packed whole");
    return open_pickle(wanted.data);
  }
  if (what == Importable::kRecords) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{} is one class of Meta-Dataset: give the folder, with its dataset_spec.json",
                            dataset::shown(wanted.data.native())));
  }
  return nullptr;
}

}  // namespace feedring::pack
