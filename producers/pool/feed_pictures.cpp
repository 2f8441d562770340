// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/feed_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <utility>

#include "producers/transform/finish.hpp"
#include "producers/transform/mask.hpp"
#include "producers/transform/transform.hpp"

namespace feedring {
namespace {

// Leaves the finishing steps out of `resolved`, which draw nothing, so that everything else is drawn as before; what
// they did, as a table.
std::optional<FinishTable> take_finish(const Chain& chain, FeedSpec& resolved) {
  if (resolved.finish == FinishBy::kProducer) return std::nullopt;
  const std::vector<Step>& steps = chain.steps();
  if (std::any_of(steps.begin(), steps.end(), writes_values)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("feed '{}': RandomErasing behind ToDtype writes finished values, which finish = \"device\" "
                            "makes only of pixels: put it before ToDtype, or leave \"finish\" out",
                            resolved.name));
  }
  const Finish finish(chain, resolved.dtype, resolved.layout);
  if (finish.is_plain()) return std::nullopt;
  nlohmann::json rest = nlohmann::json::array();
  for (const nlohmann::json& step : resolved.transform) {
    const std::string name = step.at("name").get<std::string>();
    if (name != "ToDtype" && name != "Normalize") rest.push_back(step);
  }
  resolved.transform = std::move(rest);
  resolved.dtype = Dtype::kUint8;
  resolved.layout = Layout::kNhwc;
  return finish.table();
}

// What is made for one picture of a sample.
void demand_one_view(const FeedSpec& spec) {
  if (!spec.columns.empty() && spec.episodes) {
    throw Error(ErrorKind::kUsage,
                fmt::format("feed '{}' has columns and episodes, whose images have labels alone: leave one of them out",
                            spec.name));
  }
  if (spec.views.empty()) return;
  const auto fail = [&](std::string_view what, std::string_view why) {
    throw Error(ErrorKind::kUsage,
                fmt::format("feed '{}' has views and {}, which {}: leave one of them out", spec.name, what, why));
  };
  if (spec.episodes) fail("episodes", "have one picture of each sample");
  if (spec.cache == Cache::kDecoded) fail("cache = \"decoded\"", "keeps one picture of each sample");
  if (spec.finish == FinishBy::kDevice) fail("finish = \"device\"", "finishes one tensor of images");
}

// Masks and further pictures go the way of one picture.
void demand_one_way(const FeedSpec& spec) {
  const auto file = std::find_if(spec.columns.begin(), spec.columns.end(),
                                 [](const ColumnSpec& column) { return of_files(column.kind); });
  if (file == spec.columns.end()) return;
  const auto fail = [&](std::string_view what) {
    throw Error(ErrorKind::kUsage,
                fmt::format("feed '{}' has the column '{}' of files, which does not go with {}: leave "
                            "one of them out",
                            spec.name, file->name, what));
  };
  if (!spec.views.empty()) fail("views");
  if (spec.cache == Cache::kDecoded) fail("cache = \"decoded\"");
  if (spec.finish == FinishBy::kDevice) fail("finish = \"device\"");
  const auto mask = std::find_if(spec.columns.begin(), spec.columns.end(),
                                 [](const ColumnSpec& column) { return column.kind == ColumnKind::kMask; });
  if (mask == spec.columns.end()) return;
  if (const std::string why = unfit_for_masks(Chain::parse(spec.transform)); !why.empty())
    throw Error(ErrorKind::kUsage, fmt::format("feed '{}' has the mask '{}': {}", spec.name, mask->name, why));
}

// What is kept must be the same each time.
void demand_keepable(const FeedSpec& spec, const Chain& chain) {
  if (spec.cache != Cache::kDecoded) return;
  if (const auto random = chain.random_step()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("feed '{}' has cache = \"decoded\", which keeps each picture as its last crop or resize "
                    "leaves it, but {} (transform {}) makes another one every time: take it out, move a flip or "
                    "a change of colours behind the last crop or resize, or leave out cache",
                    spec.name, chain.canonical()[*random]["name"].get<std::string>(), *random + 1));
  }
}

Chain chain_of(const FeedSpec& spec, const ViewSpec& view) {
  try {
    return Chain::parse(view.transform);
  } catch (const Error& error) {
    if (spec.views.empty()) throw;
    throw Error(error.kind(), fmt::format("feed '{}', view '{}': {}", spec.name, view.name, error.what()));
  }
}

}  // namespace

FeedPictures pictures_of(const FeedSpec& spec) {
  demand_one_view(spec);
  demand_one_way(spec);
  FeedPictures pictures{spec, spec, std::nullopt, {}};
  if (spec.views.empty()) {
    const Chain chain = Chain::parse(spec.transform);
    demand_keepable(spec, chain);
    pictures.spec.dtype = pictures.asked.dtype = chain.slot_dtype(spec.dtype);
    pictures.finish = take_finish(chain, pictures.spec);
  }
  for (ViewSpec& view : views_of(pictures.spec)) {
    const Chain chain = chain_of(spec, view);
    const Dtype dtype = chain.slot_dtype(pictures.spec.dtype);
    pictures.views.push_back({std::move(view.name), view.count, static_cast<std::uint32_t>(chain.output_size().height),
                              static_cast<std::uint32_t>(chain.output_size().width), dtype});
  }
  return pictures;
}

std::vector<TensorSpec> tensors_of(const std::vector<NodeView>& views, const std::vector<ColumnSpec>& columns,
                                   Layout layout) {
  std::vector<TensorSpec> tensors;
  for (const NodeView& view : views)
    tensors.push_back(picture_tensor(view.name, view.count, view.height, view.width, view.dtype, layout));
  for (const ColumnSpec& column : columns) {
    switch (column.kind) {
      case ColumnKind::kClass: tensors.push_back({column.name, Dtype::kInt64, {}, {}}); break;
      case ColumnKind::kMultiHot: tensors.push_back({column.name, Dtype::kUint8, {column.classes.size()}, {}}); break;
      case ColumnKind::kImage: {
        const NodeView& picture = views.front();
        tensors.push_back(
            picture_tensor(column.name, std::nullopt, picture.height, picture.width, picture.dtype, layout));
        break;
      }
      case ColumnKind::kMask:
        tensors.push_back({column.name, Dtype::kUint8, {views.front().height, views.front().width}, {}});
        break;
      case ColumnKind::kFloat:
        tensors.push_back({column.name, Dtype::kFloat32, {}, {}});
        if (column.length) tensors.back().shape = {*column.length};
    }
  }
  return file_feed_tensors(std::move(tensors));
}

}  // namespace feedring
