// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/column_table.hpp"
#include "producers/dataset/digest.hpp"
#include "producers/dataset/index.hpp"
#include "producers/dataset/index_layout.hpp"

namespace feedring {
namespace {

using dataset::ArchiveRecord;
using dataset::ClassRecord;
using dataset::IndexHeader;
using dataset::SampleRecord;

/// Where the parts lie, worked out before a byte is written.
IndexHeader header_of(const Scan& scan, const DrawTables& tables) noexcept {
  IndexHeader header{};
  header.magic = dataset::kIndexMagic;
  header.version = dataset::kIndexVersion;
  header.samples = scan.samples.size();
  header.samples_at = sizeof(IndexHeader);
  header.classes = scan.classes.size();
  header.members_at = header.samples_at + header.samples * sizeof(SampleRecord);
  header.archives = scan.archives.size();
  header.archives_at = header.members_at + (header.archives == 0 ? 0 : header.samples) * sizeof(Member);
  header.classes_at = header.archives_at + header.archives * sizeof(ArchiveRecord);
  header.sums = tables.sums.size();
  header.sums_at = header.classes_at + header.classes * sizeof(ClassRecord);
  header.sources = tables.sources.size();
  header.sources_at = header.sums_at + header.sums * sizeof(std::uint64_t);
  header.drawn = tables.members.size();
  header.drawn_at = header.sources_at + header.sources * sizeof(Source);
  header.text_at = header.drawn_at + header.drawn * sizeof(std::uint64_t);
  header.root_length = scan.root.size();
  header.text_bytes = header.root_length + 1;
  for (const Archive& archive : scan.archives) header.text_bytes += archive.name.size() + 1;
  for (const std::string& name : scan.classes) header.text_bytes += name.size() + 1;
  header.text_bytes += scan.paths.size();
  header.attachment_at = header.text_at + header.text_bytes;
  header.attachment_bytes =
      dataset::column_head(scan).size() + scan.samples.size() * scan.values.row_bytes + scan.values.paths.size();
  header.total_bytes = header.attachment_at + header.attachment_bytes;
  return header;
}

/// Appends to a memfd by write(2): no writable mapping may be left when the content is sealed, and the kernel fills
/// whole pages without a page fault each.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) { buffer_.reserve(kBuffer); }

  void put(const void* data, std::size_t bytes) {
    if (buffer_.size() + bytes > kBuffer) flush();
    if (bytes > kBuffer) return write_all(static_cast<const char*>(data), bytes);
    buffer_.append(static_cast<const char*>(data), bytes);
  }
  /// With the NUL behind it.
  void put(const std::string& text) { put(text.c_str(), text.size() + 1); }

  void flush() {
    write_all(buffer_.data(), buffer_.size());
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kBuffer = 1 << 20;

  void write_all(const char* data, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t written = ::write(fd_, data, bytes);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        throw Error(ErrorKind::kInternal, fmt::format("writing the data set index failed: {}", std::strerror(errno)));
      }
      data += written;
      bytes -= static_cast<std::size_t>(written);
    }
  }

  int fd_;
  std::string buffer_;
};

}  // namespace

std::uint64_t index_bytes(const Scan& scan, const DrawTables& tables) noexcept {
  return header_of(scan, tables).total_bytes;
}

UniqueFd build_index(const Scan& scan, const DrawTables& tables) {
  IndexHeader header = header_of(scan, tables);
  std::uint64_t paths_at = header.root_length + 1;
  std::vector<ArchiveRecord> archives;
  for (const Archive& archive : scan.archives) {
    archives.push_back({.name_begin = paths_at, .name_length = archive.name.size(), .bytes = archive.bytes});
    paths_at += archive.name.size() + 1;
  }
  std::vector<ClassRecord> classes;
  for (const std::string& name : scan.classes) {
    classes.push_back({.name_begin = paths_at, .name_length = name.size(), .begin = 0, .end = 0});
    paths_at += name.size() + 1;
  }
  for (std::size_t i = 0; i < scan.samples.size(); ++i) {
    const Sample& sample = scan.samples[i];
    ClassRecord& of_sample = classes.at(sample.label);
    if (of_sample.end == 0) of_sample.begin = i;
    of_sample.end = i + 1;
  }
  header.digest = dataset::digest_of(scan);

  UniqueFd fd = create_memfd("feedring-index", header.total_bytes);
  Writer writer(fd.get());
  writer.put(&header, sizeof header);
  for (const Sample& sample : scan.samples) {
    const SampleRecord entry{.path_begin = paths_at + sample.path_begin,
                             .bytes = sample.bytes,
                             .path_length = sample.path_length,
                             .label = sample.label};
    writer.put(&entry, sizeof entry);
  }
  if (!archives.empty()) {
    for (const Sample& sample : scan.samples) writer.put(&scan.members.at(sample.member), sizeof(Member));
  }
  writer.put(archives.data(), archives.size() * sizeof(ArchiveRecord));
  writer.put(classes.data(), classes.size() * sizeof(ClassRecord));
  writer.put(tables.sums.data(), tables.sums.size() * sizeof(std::uint64_t));
  writer.put(tables.sources.data(), tables.sources.size() * sizeof(Source));
  writer.put(tables.members.data(), tables.members.size() * sizeof(std::uint64_t));
  writer.put(scan.root);
  for (const Archive& archive : scan.archives) writer.put(archive.name);
  for (const std::string& name : scan.classes) writer.put(name);
  writer.put(scan.paths.data(), scan.paths.size());
  const std::string columns = dataset::column_head(scan);
  writer.put(columns.data(), columns.size());
  if (!columns.empty()) {
    for (const Sample& sample : scan.samples) writer.put(scan.values.row(sample.row).data(), scan.values.row_bytes);
    writer.put(scan.values.paths.data(), scan.values.paths.size());
  }
  writer.flush();
  seal_content(fd.get());
  return fd;
}

UniqueFd build_nameless_index(std::uint64_t samples, std::string_view identity, std::string_view attachment) {
  dataset::Digest digest;
  digest.add(identity, samples, 0);
  IndexHeader header{};
  header.magic = dataset::kIndexMagic;
  header.version = dataset::kIndexVersion;
  header.samples = samples;
  header.samples_at = sizeof(IndexHeader);
  header.nameless = 1;
  header.classes = 1;
  header.classes_at = sizeof(IndexHeader);
  header.text_at = header.classes_at + sizeof(ClassRecord);
  header.text_bytes = 1;  // the NUL behind a root, and a class's name, of no letters
  header.attachment_at = header.text_at + header.text_bytes;
  header.attachment_bytes = attachment.size();
  header.total_bytes = header.attachment_at + header.attachment_bytes;
  header.digest = digest.finish();
  const ClassRecord all{.name_begin = 0, .name_length = 0, .begin = 0, .end = samples};

  UniqueFd fd = create_memfd("feedring-index", header.total_bytes);
  Writer writer(fd.get());
  writer.put(&header, sizeof header);
  writer.put(&all, sizeof all);
  writer.put("", 1);
  writer.put(attachment.data(), attachment.size());
  writer.flush();
  seal_content(fd.get());
  return fd;
}

}  // namespace feedring
