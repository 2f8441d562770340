// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/sample_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <feedring/error.hpp>
#include <numeric>

#include "producers/dataset/select.hpp"
#include "producers/plan/weighted_draw.hpp"

namespace feedring {
namespace {

// Names in columns as in columns of the same names in `numbered`.
DataChoice data_choice(const FeedSpec& spec, const std::vector<ColumnSpec>& numbered) {
  DataChoice choice{spec.split, spec.classes, spec.class_depth, spec.columns, spec.weights.column};
  for (ColumnSpec& column : choice.columns) {
    for (const ColumnSpec& other : numbered) {
      if (other.name == column.name && other.kind == column.kind) column.classes = other.classes;
    }
  }
  return choice;
}

void keep(Scan& scan, const std::vector<std::string>& files, const std::optional<std::uint64_t>& limit,
          const std::filesystem::path& data) {
  if (!files.empty()) keep_files(scan, files, data);
  if (limit) keep_limit(scan, *limit);
}

Scan scan_mix(const FeedSpec& spec, const std::vector<std::string>* classes_from) {
  std::vector<Scan> scans;
  std::vector<double> weights;
  for (const MixedData& part : spec.mix) {
    scans.push_back(scan_data(part.data, classes_from, NoSamples::kIsAnError,
                              {part.split, part.classes, part.class_depth, {}, {}}));
    keep(scans.back(), part.files, part.limit, part.data);
    weights.push_back(part.weight);
  }
  return mix_scans(std::move(scans), whole_shares(weights));
}

}  // namespace

Scan scan_samples(const FeedSpec& spec, const std::vector<std::string>* classes_from, NoSamples empty,
                  const std::vector<ColumnSpec>& numbered) {
  if (!spec.mix.empty()) return scan_mix(spec, classes_from);
  Scan scan = scan_data(spec.data, classes_from, empty, data_choice(spec, numbered));
  if (!spec.weights.column.empty() && !scan.weighted) {
    throw Error(
        ErrorKind::kData,
        fmt::format("feed '{}' has weights = \"{}\", the name of a column, but its data {} has no columns: give a "
                    "table or JSON lines, or weights by class",
                    spec.name, spec.weights.column, spec.data.native()));
  }
  keep(scan, spec.files, spec.limit, spec.data);
  if (spec.weights.by_class) share_by_class(scan, spec.weights.classes, spec.data);
  return scan;
}

DrawTables draw_tables(const Scan& scan) {
  DrawTables tables;
  if (scan.weighted) {
    std::vector<double> weights;
    weights.reserve(scan.samples.size());
    for (const Sample& sample : scan.samples) weights.push_back(sample.weight);
    if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; })) {
      throw Error(ErrorKind::kData,
                  fmt::format("all samples of {} have the weight 0: give one a weight above", scan.root));
    }
    tables.sums = whole_weights(weights);
    std::partial_sum(tables.sums.begin(), tables.sums.end(), tables.sums.begin());
    return tables;
  }
  if (scan.shares.empty()) return tables;
  std::vector<std::uint64_t> begin(scan.shares.size() + 1);
  for (const Sample& sample : scan.samples) {
    if (sample.source != kNoSource) ++begin.at(sample.source + 1);
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::uint64_t share = 0;
  for (std::size_t s = 0; s < scan.shares.size(); ++s)
    tables.sources.push_back({begin[s], begin[s + 1], share += scan.shares[s]});
  tables.members.resize(begin.back());
  for (std::size_t i = 0; i < scan.samples.size(); ++i) {
    if (scan.samples[i].source != kNoSource) tables.members[begin[scan.samples[i].source]++] = i;
  }
  return tables;
}

OrderView::OrderView(const FeedSpec& spec, std::uint64_t samples, std::span<const std::uint64_t> sums,
                     std::span<const Source> sources, std::span<const std::uint64_t> members)
    : samples_(samples),
      shuffle_(spec.shuffle),
      per_epoch_(samples_per_epoch(spec, samples)),
      sums_(sums),
      members_(members) {
  for (const Source& source : sources) sources_.push_back({source.begin, source.end, source.share_end});
  // An epoch of another length than the data: one source, so that passes go on over epochs.
  if (sources.empty() && sums.empty() && per_epoch_ != samples) sources_.push_back({0, samples, 1});
}

}  // namespace feedring
