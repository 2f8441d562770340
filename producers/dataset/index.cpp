// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/index.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/digest.hpp"
#include "producers/dataset/index_layout.hpp"

namespace feedring {
namespace {

using dataset::ArchiveRecord;
using dataset::ClassRecord;
using dataset::IndexHeader;
using dataset::SampleRecord;

[[noreturn]] void refuse(std::string_view why) {
  throw Error(ErrorKind::kRefused, fmt::format("the data set index that was handed over is unusable: {}", why));
}

[[noreturn]] void damaged() {
  throw Error(ErrorKind::kInternal, "the data set index in shared memory contradicts itself");
}

void demand(std::uint64_t number, std::uint64_t count) {
  if (number < count) return;
  throw Error(ErrorKind::kInternal, fmt::format("number {} is asked of a data set index that has {}", number, count));
}

/// Whether `count` records of `size` bytes from `at` on lie within `total` bytes.
bool fits(std::uint64_t at, std::uint64_t count, std::uint64_t size, std::uint64_t total) noexcept {
  return at <= total && count <= (total - at) / size;
}

/// A draw divides by the sums of weights and shares, and looks for its place among them.
void demand_drawable(std::span<const std::uint64_t> sums, std::span<const Source> sources, std::uint64_t drawn) {
  if (!sums.empty() && sums.back() == 0) refuse("no sample has a weight");
  std::uint64_t share = 0;
  for (const Source& source : sources) {
    if (source.begin >= source.end || source.end > drawn || source.share_end <= share)
      refuse("a source has no samples");
    share = source.share_end;
  }
}

}  // namespace

Index Index::attach(int fd) {
  // Without these seals a peer could turn our next access into SIGBUS, or change what was checked.
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kNeeded) != kNeeded) refuse("it is not sealed");
  if (size_of(fd) < sizeof(IndexHeader)) refuse("it is too short");
  return Index(Mapping(fd, Mapping::Access::kReadOnly, sizeof(IndexHeader)));
}

Index::Index(Mapping mapping) : mapping_(std::move(mapping)) {
  IndexHeader header;
  std::memcpy(&header, mapping_.data(), sizeof header);
  const std::uint64_t total = mapping_.size();
  if (header.magic != dataset::kIndexMagic) refuse("it is no index");
  if (header.version != dataset::kIndexVersion) {
    refuse(fmt::format("it has version {}, this program reads {}: all parts must come from one build", header.version,
                       dataset::kIndexVersion));
  }
  if (header.nameless > 1) refuse("it says neither that samples have files nor that they have none");
  const std::uint64_t records = header.nameless == 1 ? 0 : header.samples;
  if (header.sums != 0 && header.sums != header.samples) refuse("it has weights of other samples");
  if (header.total_bytes != total || !fits(header.samples_at, records, sizeof(SampleRecord), total) ||
      !fits(header.members_at, header.archives == 0 ? 0 : records, sizeof(Member), total) ||
      !fits(header.archives_at, header.archives, sizeof(ArchiveRecord), total) ||
      !fits(header.classes_at, header.classes, sizeof(ClassRecord), total) ||
      !fits(header.sums_at, header.sums, sizeof(std::uint64_t), total) ||
      !fits(header.sources_at, header.sources, sizeof(Source), total) ||
      !fits(header.drawn_at, header.drawn, sizeof(std::uint64_t), total) ||
      !fits(header.text_at, header.text_bytes, 1, total) ||
      !fits(header.attachment_at, header.attachment_bytes, 1, total)) {
    refuse("its parts do not lie within it");
  }
  nameless_ = header.nameless == 1;
  samples_ = header.samples;
  samples_at_ = header.samples_at;
  members_at_ = header.members_at;
  archives_ = header.nameless == 1 ? 0 : header.archives;
  archives_at_ = header.archives_at;
  classes_ = header.classes;
  classes_at_ = header.classes_at;
  text_at_ = header.text_at;
  text_bytes_ = header.text_bytes;
  root_length_ = header.root_length;
  sums_ = this->records<std::uint64_t>(header.sums_at, header.sums);
  sources_ = this->records<Source>(header.sources_at, header.sources);
  drawn_ = this->records<std::uint64_t>(header.drawn_at, header.drawn);
  demand_drawable(sums_, sources_, drawn_.size());
  digest_ = dataset::hex(header.digest);
  attachment_ = {mapping_.data() + header.attachment_at, header.attachment_bytes};
  // Best effort: otherwise each page is a fault in the middle of the first epoch.
  (void)mapping_.populate(0, mapping_.size());
}

template <class Record>
std::span<const Record> Index::records(std::uint64_t at, std::uint64_t count) const {
  if (at % alignof(Record) != 0) refuse("its parts do not lie as they should");
  return {reinterpret_cast<const Record*>(mapping_.data() + at), count};
}

template <class Record>
Record Index::record(std::uint64_t at, std::uint64_t number, std::uint64_t count) const {
  demand(number, count);
  Record copy;
  std::memcpy(&copy, mapping_.data() + at + number * sizeof(Record), sizeof copy);
  return copy;
}

std::string_view Index::text(std::uint64_t begin, std::uint64_t length) const {
  if (begin >= text_bytes_ || length >= text_bytes_ - begin) damaged();
  const char* text = reinterpret_cast<const char*>(mapping_.data()) + text_at_ + begin;
  if (text[length] != '\0') damaged();
  return {text, length};
}

SampleRecord Index::sample(std::uint64_t number) const {
  if (!nameless_) return record<SampleRecord>(samples_at_, number, samples_);
  demand(number, samples_);
  return {.path_begin = root_length_, .bytes = 0, .path_length = 0, .label = 0};  // the NUL behind the root
}

std::string_view Index::path(std::uint64_t sample) const {
  const auto entry = this->sample(sample);
  return text(entry.path_begin, entry.path_length);
}

std::string Index::called(std::uint64_t sample) const {
  return nameless_ ? fmt::format("sample {}", sample) : std::string(path(sample));
}

std::uint64_t Index::bytes(std::uint64_t sample) const { return this->sample(sample).bytes; }

std::uint32_t Index::label(std::uint64_t sample) const {
  const std::uint32_t label = this->sample(sample).label;
  if (label >= classes_) damaged();
  return label;
}

std::string_view Index::archive(std::uint64_t number) const {
  const auto entry = record<ArchiveRecord>(archives_at_, number, archives_);
  return text(entry.name_begin, entry.name_length);
}

std::uint64_t Index::archive_bytes(std::uint64_t number) const {
  return record<ArchiveRecord>(archives_at_, number, archives_).bytes;
}

Member Index::member(std::uint64_t sample) const {
  const auto entry = record<Member>(members_at_, sample, archives_ == 0 ? 0 : samples_);
  if (entry.archive >= archives_ || entry.packing > Packing::kDeflated) damaged();
  return entry;
}

std::string_view Index::class_name(std::uint64_t number) const {
  const auto entry = record<ClassRecord>(classes_at_, number, classes_);
  return text(entry.name_begin, entry.name_length);
}

Range Index::class_range(std::uint64_t number) const {
  const auto entry = record<ClassRecord>(classes_at_, number, classes_);
  if (entry.begin > entry.end || entry.end > samples_) damaged();
  return {entry.begin, entry.end};
}

std::vector<std::string> Index::class_names() const {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < classes_; ++i) names.emplace_back(class_name(i));
  return names;
}

std::string Index::origin() const {
  std::string origin(root());
  for (std::uint64_t i = 0; i < archives_; ++i) origin.append("\n").append(archive(i));
  return origin;
}

std::string_view Index::root() const { return text(0, root_length_); }

}  // namespace feedring
