// SPDX-License-Identifier: Apache-2.0
#include "producers/cli/judge.hpp"

#include <fmt/format.h>

#include <utility>

namespace feedring::cli {

Verdict Judge::judge(std::string path, Fault unread, bool mask) {
  Verdict verdict;
  verdict.path = std::move(path);
  verdict.reason = std::move(unread);
  if (verdict.reason) return verdict;
  verdict.bytes = file_.bytes().size();
  verdict.info.format = sniff(file_.bytes());
  ImageInfo info;
  verdict.reason = decoder_.probe(file_.bytes(), max_pixels_, info, mask ? DecodeOptions{} : options_);
  if (verdict.reason) return verdict;
  info.indices = mask;
  verdict.info = info;
  RgbView pixels;
  verdict.reason = decoder_.decode(file_.bytes(), info, {0, 0, info.size.width, info.size.height}, pixels);
  return verdict;
}

Verdict Judge::judge_column(const Scan& scan, std::uint64_t index, std::size_t column, Size picture) {
  const ColumnSpec& spec = scan.values.columns[column];
  const Sample& sample = scan.samples[index];
  std::string path(scan.values.path(scan.values.file(sample.row, column)));
  Fault unread = file_.read(scan.root + '/' + path);
  Verdict verdict = judge(std::move(path), std::move(unread), spec.kind == ColumnKind::kMask);
  verdict.column = spec.name;
  verdict.index = index;
  const Size size = verdict.info.size;
  // Where the picture has no size, it fails itself.
  if (!verdict.reason && spec.kind == ColumnKind::kMask && picture != Size{} && size != picture)
    verdict.reason = fmt::format("it has {} x {} pixels, and its picture {} x {}", size.width, size.height,
                                 picture.width, picture.height);
  if (verdict.reason) {
    verdict.reason =
        fmt::format("{} of {} (sample {}): {}", spec.name, scan.path(sample), index, *std::move(verdict.reason));
  }
  return verdict;
}

std::vector<Verdict> Judge::look_at(const Scan& scan, std::uint64_t index) {
  const Sample& sample = scan.samples.at(index);
  std::vector<Verdict> verdicts;
  verdicts.push_back(judge(std::string(scan.path(sample)), file_.read(scan, sample)));
  const Size size = verdicts.front().info.size;
  for (std::size_t i = 0; i < scan.values.columns.size(); ++i) {
    if (of_files(scan.values.columns[i].kind)) verdicts.push_back(judge_column(scan, index, i, size));
  }
  return verdicts;
}

}  // namespace feedring::cli
