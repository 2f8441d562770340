// SPDX-License-Identifier: Apache-2.0
// What becomes of a scan before it is fed: fewer samples, several data sets as one, some samples more often. Class
// numbers stay as the data has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "producers/dataset/scan.hpp"

namespace feedring {

/// Keeps the samples that `files` names, by their path or, without a '/', by the last part of it (several samples may
/// have one name). Throws Error(kData) that says which one `data` lacks.
void keep_files(Scan& scan, const std::vector<std::string>& files, const std::filesystem::path& data);

/// Keeps `limit` samples at even distances, so that each class keeps its part; all where there are no more. limit >= 1.
void keep_limit(Scan& scan, std::uint64_t limit);

/// One scan of several, each a source of its share. Classes of one name are one; where one scan's list of classes
/// begins with another's, that is the list, else all names in bytewise order. Throws Error(kData) where some lie in
/// archives and others do not.
[[nodiscard]] Scan mix_scans(std::vector<Scan> scans, const std::vector<std::uint64_t>& shares);

/// Makes each class a source whose share is its weight, 1 for classes that are not named; classes without samples, or
/// of weight 0, are none. Throws Error(kData) for a name that `data` lacks, or where nothing is left.
void share_by_class(Scan& scan, const std::vector<std::pair<std::string, double>>& weights,
                    const std::filesystem::path& data);

/// Whole numbers in the proportions of `weights`, which are finite and above zero, rounded to a millionth, and as small
/// as they can be: {0.7, 0.3} is {7, 3}.
[[nodiscard]] std::vector<std::uint64_t> whole_shares(const std::vector<double>& weights);

}  // namespace feedring
