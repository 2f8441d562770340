// SPDX-License-Identifier: Apache-2.0
// Records of comma- or tab-separated values (RFC 4180). Internal to this folder.
#pragma once

#include <string>
#include <vector>

#include "producers/dataset/text_lines.hpp"

namespace feedring::dataset {

/// Reads the next record into `fields`, whose memory it reuses. Lines end in "\n" or "\r\n"; blank ones are no records.
/// A field in quotes may hold the separator, quotes (doubled) and ends of lines. False at the end of the file. Throws
/// Error(kData) that names the line.
bool next_record(TextLines& lines, char separator, std::vector<std::string>& fields);

}  // namespace feedring::dataset
