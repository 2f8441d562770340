// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/tar_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <feedring/error.hpp>
#include <numeric>

namespace feedring::pack {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kRecord = 20 * kBlock;  // tar's own; a file is a whole number of them
constexpr std::size_t kBuffer = std::size_t{1} << 20;
constexpr int kTries = 100;

}  // namespace

TarWriter::TarWriter(std::filesystem::path target) : target_(std::move(target)), part_(target_) {
  part_ += ".part";
  // Another import may give the file its name, or remove it, between our opening and locking it.
  for (int tries = 0; !take_part(); ++tries) {
    if (tries == kTries) fail_as_taken();
  }
  buffer_.reserve(kBuffer);
}

bool TarWriter::take_part() {
  // Without waiting: somebody may have put a pipe there.
  file_.reset(::open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  if (!file_) fail("cannot be written", errno);
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
    throw Error(ErrorKind::kUsage, part_.string() + " is in the way and is not what an import left: remove it");
  }
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail("cannot be locked", errno);
    fail_as_taken();
  }
  struct stat named {};
  if (::fstat(file_.get(), &info) != 0) fail("cannot be read", errno);
  if (::lstat(part_.c_str(), &named) != 0 || named.st_dev != info.st_dev || named.st_ino != info.st_ino) return false;
  found_bytes_ = static_cast<std::uint64_t>(info.st_size);
  kept_ = found_bytes_ > 0;  // before cut() what was there is not ours
  return true;
}

void TarWriter::fail_as_taken() const {
  throw Error(ErrorKind::kUsage,
              part_.string() + " is being written by another import: wait for it, or choose another name");
}

std::string TarWriter::checksum(std::uint64_t begin, std::uint64_t end) const {
  Checksum sum;
  std::string piece(kBuffer, '\0');
  while (begin < end) {
    const ssize_t got = ::pread(file_.get(), piece.data(), std::min<std::uint64_t>(end - begin, piece.size()),
                                static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";  // no checksum's text: it counts as another
    sum.add({piece.data(), static_cast<std::size_t>(got)});
    begin += static_cast<std::uint64_t>(got);
  }
  return sum.take();
}

void TarWriter::cut(std::uint64_t bytes) {
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0 ||
      ::lseek(file_.get(), static_cast<off_t>(bytes), SEEK_SET) < 0) {
    fail("cannot be written", errno);
  }
  written_ = bytes;
  kept_ = bytes > 0;
}

std::uint64_t TarWriter::written() {
  flush();
  return written_;
}

TarWriter::~TarWriter() {
  if (!finished_ && !kept_) ::unlink(part_.c_str());
}

void TarWriter::add(std::string_view name, std::span<const std::uint8_t> bytes) {
  if (name.size() > 100) {
    header("././@LongLink", name.size() + 1, 'L');
    put(name);
    put({"\0", 1});
    pad();
  }
  header(name.substr(0, 100), bytes.size(), '0');
  put({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  pad();
}

void TarWriter::header(std::string_view name, std::uint64_t bytes, char type) {
  std::array<char, kBlock> block{};
  const auto field = [&](std::size_t at, std::string_view text) { text.copy(block.data() + at, text.size()); };
  field(0, name);
  field(100, "0000644");
  field(108, "0000000");
  field(116, "0000000");
  field(124, fmt::format("{:011o}", bytes));  // a member has 256 MiB at most
  field(136, "00000000000");
  field(148, "        ");
  block[156] = type;
  field(257, "ustar  ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  field(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  put({block.data(), block.size()});
}

void TarWriter::pad() {
  const std::size_t beyond = (written_ + buffer_.size()) % kBlock;
  if (beyond != 0) put(std::string(kBlock - beyond, '\0'));
}

void TarWriter::put(std::string_view bytes) {
  buffer_.append(bytes);
  sum_.add(bytes);
  if (buffer_.size() >= kBuffer) flush();
}

void TarWriter::flush() {
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t done = ::write(file_.get(), data, left);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) fail("cannot be written", errno);
    data += done;
    left -= static_cast<std::size_t>(done);
  }
  written_ += buffer_.size();
  buffer_.clear();
}

std::uint64_t TarWriter::finish() {
  put(std::string(2 * kBlock, '\0'));
  const std::size_t beyond = (written_ + buffer_.size()) % kRecord;
  if (beyond != 0) put(std::string(kRecord - beyond, '\0'));
  flush();
  if (::fsync(file_.get()) != 0) fail("cannot be written", errno);
  // Not over a file that has come since. File systems that do not know the flag have link(2).
  if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EINVAL || errno == ENOSYS) {
      if (::link(part_.c_str(), target_.c_str()) != 0) fail_to_name(errno);
      ::unlink(part_.c_str());
    } else {
      fail_to_name(errno);
    }
  }
  finished_ = true;
  return written_;
}

void TarWriter::fail_to_name(int error) const {
  if (error == EEXIST) {
    throw Error(ErrorKind::kUsage,
                target_.string() + " has appeared while it was being written, and was left: choose another name");
  }
  fail("cannot be given its name", error);
}

void TarWriter::fail(std::string_view what, int error) const {
  const bool room = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw Error(room ? ErrorKind::kMemory : ErrorKind::kData,
              fmt::format("{} {}: {}", part_.string(), what, std::strerror(error)));
}

}  // namespace feedring::pack
