// SPDX-License-Identifier: Apache-2.0
#include "producers/pack/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <sstream>

#include "producers/dataset/labels.hpp"

namespace feedring::pack {
namespace {

constexpr off_t kLongest = off_t{1} << 28;

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view what) {
  throw Error(ErrorKind::kData, fmt::format("{} cannot be written: {}", dataset::shown(file.native()), what));
}

std::string read_text(int fd, off_t bytes) {
  std::string text(static_cast<std::size_t>(bytes), '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

std::string line_of(const Checkpoint& checkpoint) {
  return fmt::format("{} {} {} {}\n", checkpoint.items, checkpoint.end, checkpoint.source, checkpoint.pack);
}

}  // namespace

Journal::Journal(const std::filesystem::path& target, const std::string& head)
    : file_(target), head_("feedring import 1 " + head + '\n') {
  file_ += ".part.journal";
  fd_.reset(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  struct stat info {};
  if (!fd_ || ::fstat(fd_.get(), &info) != 0) fail(file_, std::strerror(errno));
  if (!S_ISREG(info.st_mode) || info.st_nlink != 1) {
    throw Error(ErrorKind::kUsage,
                dataset::shown(file_.native()) + " is in the way and is not what an import left: remove it");
  }
  if (info.st_size > kLongest) return;
  const std::string text = read_text(fd_.get(), info.st_size);
  if (!text.starts_with(head_)) return;
  std::istringstream lines(text.substr(head_.size()));
  for (std::string line; std::getline(lines, line) && !lines.eof();) {  // the last one may be half there
    std::istringstream words(line);
    Checkpoint next;
    if (!(words >> next.items >> next.end >> next.source >> next.pack) || line_of(next) != line + '\n') break;
    const Checkpoint before = found_.empty() ? Checkpoint() : found_.back();
    if (next.items <= before.items || next.end <= before.end) break;
    found_.push_back(std::move(next));
  }
}

void Journal::keep(std::size_t count) {
  std::string text = head_;
  for (std::size_t i = 0; i < count; ++i) text += line_of(found_.at(i));
  if (::ftruncate(fd_.get(), 0) != 0 || ::lseek(fd_.get(), 0, SEEK_SET) != 0) fail(file_, std::strerror(errno));
  write(text);
  count_ = count;
}

void Journal::add(const Checkpoint& checkpoint) {
  write(line_of(checkpoint));
  ++count_;
}

void Journal::write(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t now = ::write(fd_.get(), text.data() + done, text.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) {
      const bool room = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
      throw Error(room ? ErrorKind::kMemory : ErrorKind::kData,
                  fmt::format("{} cannot be written: {}", dataset::shown(file_.native()), std::strerror(errno)));
    }
    done += static_cast<std::size_t>(now);
  }
}

void Journal::remove() noexcept { ::unlink(file_.c_str()); }

}  // namespace feedring::pack
