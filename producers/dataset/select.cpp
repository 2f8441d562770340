// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/select.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <feedring/error.hpp>
#include <numeric>
#include <set>
#include <unordered_map>

#include "producers/dataset/labels.hpp"

namespace feedring {

using dataset::shown;

void keep_files(Scan& scan, const std::vector<std::string>& files, const std::filesystem::path& data) {
  std::unordered_map<std::string_view, bool> wanted;  // whether it was met
  for (const std::string& file : files) wanted.emplace(file, false);
  const auto meets = [&wanted](std::string_view name) {
    const auto found = wanted.find(name);
    if (found == wanted.end()) return false;
    found->second = true;
    return true;
  };
  std::erase_if(scan.samples, [&](const Sample& sample) {
    const std::string_view path = scan.path(sample);
    const bool whole = meets(path);
    const bool last = meets(path.substr(path.rfind('/') + 1));
    return !whole && !last;
  });
  for (const std::string& file : files) {
    if (wanted.at(file)) continue;
    throw Error(ErrorKind::kData,
                fmt::format("{} has no sample {}, which \"files\" asks for: give paths relative to {}, or "
                            "last parts of them",
                            shown(data.native()), shown(file), shown(scan.root)));
  }
}

void keep_limit(Scan& scan, std::uint64_t limit) {
  const std::uint64_t count = scan.samples.size();
  if (limit >= count) return;
  for (std::uint64_t i = 0; i < limit; ++i) {
    scan.samples[i] = scan.samples[static_cast<std::size_t>(static_cast<__uint128_t>(i) * count / limit)];
  }
  scan.samples.resize(limit);
}

std::vector<std::uint64_t> whole_shares(const std::vector<double>& weights) {
  constexpr double kUnits = 1e6;
  std::vector<std::uint64_t> shares;
  std::uint64_t common = 0;
  for (const double weight : weights) {
    shares.push_back(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(weight * kUnits))));
    common = std::gcd(common, shares.back());
  }
  for (std::uint64_t& share : shares) share /= common;
  return shares;
}

void share_by_class(Scan& scan, const std::vector<std::pair<std::string, double>>& weights,
                    const std::filesystem::path& data) {
  std::vector<double> of_class(scan.classes.size(), 1.0);
  for (const auto& [name, weight] : weights) {
    const auto found = std::find(scan.classes.begin(), scan.classes.end(), name);
    if (found == scan.classes.end()) {
      throw Error(ErrorKind::kData,
                  fmt::format("{} has no class {}, which \"weights\" names: name classes that are there",
                              shown(data.native()), shown(name)));
    }
    of_class[static_cast<std::size_t>(found - scan.classes.begin())] = weight;
  }
  std::vector<bool> taken(scan.classes.size());
  for (const Sample& sample : scan.samples) taken[sample.label] = of_class[sample.label] > 0;
  std::vector<double> of_source;
  std::vector<std::uint32_t> source(scan.classes.size(), kNoSource);
  for (std::size_t c = 0; c < taken.size(); ++c) {
    if (!taken[c]) continue;
    source[c] = static_cast<std::uint32_t>(of_source.size());
    of_source.push_back(of_class[c]);
  }
  if (of_source.empty()) {
    throw Error(ErrorKind::kData,
                fmt::format("no class of {} that has samples has a weight above 0", shown(data.native())));
  }
  for (Sample& sample : scan.samples) sample.source = source[sample.label];
  scan.shares = whole_shares(of_source);
}

namespace {

// The deepest folder that all roots lie in; what stands before a path of each scan from there.
std::string common_root(const std::vector<Scan>& scans) {
  std::filesystem::path root = scans.front().root;
  for (const Scan& scan : scans) {
    const std::filesystem::path other = scan.root;
    std::filesystem::path both;
    for (auto a = root.begin(), b = other.begin(); a != root.end() && b != other.end() && *a == *b; ++a, ++b)
      both /= *a;
    root = both;
  }
  return root.native();
}

std::vector<std::string> common_classes(const std::vector<Scan>& scans) {
  const auto longest = std::max_element(
      scans.begin(), scans.end(), [](const Scan& a, const Scan& b) { return a.classes.size() < b.classes.size(); });
  const bool alike = std::all_of(scans.begin(), scans.end(), [&](const Scan& scan) {
    return std::equal(scan.classes.begin(), scan.classes.end(), longest->classes.begin());
  });
  if (alike) return longest->classes;
  std::set<std::string> names;
  for (const Scan& scan : scans) names.insert(scan.classes.begin(), scan.classes.end());
  return {names.begin(), names.end()};
}

// Adds `scan` to `all` as source `number`.
void append(Scan& all, const Scan& scan, std::uint32_t number) {
  const std::string before =
      scan.root == all.root ? "" : scan.root.substr(all.root == "/" ? 1 : all.root.size() + 1) + '/';
  const std::vector<std::uint32_t> labels = dataset::numbers_of(scan.classes, all.classes, scan.root);
  const auto first_member = static_cast<std::uint32_t>(all.members.size());
  const auto first_archive = static_cast<std::uint32_t>(all.archives.size());
  for (const Sample& sample : scan.samples) {
    dataset::add_sample(all, before + std::string(scan.path(sample)), sample.bytes, labels[sample.label]);
    all.samples.back().member = sample.member == kNoMember ? kNoMember : sample.member + first_member;
    all.samples.back().weight = sample.weight;
    all.samples.back().source = number;
  }
  for (Member member : scan.members) {
    member.archive += first_archive;
    all.members.push_back(member);
  }
  for (const Archive& archive : scan.archives) all.archives.push_back({before + archive.name, archive.bytes});
  for (const Skipped& skipped : scan.skipped) all.skipped.push_back({before + skipped.path, skipped.why});
  all.warnings.insert(all.warnings.end(), scan.warnings.begin(), scan.warnings.end());
}

}  // namespace

Scan mix_scans(std::vector<Scan> scans, const std::vector<std::uint64_t>& shares) {
  for (const Scan& scan : scans) {
    if (scan.archives.empty() == scans.front().archives.empty()) continue;
    throw Error(ErrorKind::kData,
                fmt::format("{} and {} cannot be mixed: one lies in archives, the other does not; copy "
                            "both into packs with `feedring import`",
                            shown(scans.front().root), shown(scan.root)));
  }
  Scan all;
  all.root = common_root(scans);
  all.classes = common_classes(scans);
  for (std::size_t i = 0; i < scans.size(); ++i) {
    append(all, scans[i], static_cast<std::uint32_t>(i));
    scans[i] = {};
  }
  dataset::finish(all, false);
  all.shares = shares;
  return all;
}

}  // namespace feedring
