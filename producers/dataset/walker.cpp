// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/walker.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <iterator>
#include <memory>

#include "producers/dataset/labels.hpp"

namespace feedring::dataset {

Walker::Walker(const std::filesystem::path& root, Scan& scan) : scan_(scan) {
  root_.reset(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root_) fail("", errno);
}

Entries Walker::list(const std::string& folder) {
  Entries entries;
  const int fd = ::openat(root_.get(), folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail(folder, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd), ::closedir);
  if (!stream) {
    const int error = errno;
    ::close(fd);
    fail(folder, error);
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0) fail(folder, errno);
  entries.id = {info.st_dev, info.st_ino};
  const std::string prefix = folder.empty() ? "" : folder + "/";
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) {
      if (errno != 0) fail(folder, errno);
      break;
    }
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    sort_in(fd, *entry, prefix + entry->d_name, entries);
  }
  return entries;
}

std::vector<Found> Walker::walk(const std::string& folder, FolderId root) {
  std::vector<Found> images;
  std::set<FolderId> read{root};
  std::set<std::string> folders{folder}, links;
  while (!folders.empty() || !links.empty()) {
    std::set<std::string>& source = folders.empty() ? links : folders;
    const std::string next = std::move(source.extract(source.begin()).value());
    Entries entries = list_unless_read(next, read);
    std::move(entries.images.begin(), entries.images.end(), std::back_inserter(images));
    folders.insert(entries.folders.begin(), entries.folders.end());
    links.insert(entries.linked_folders.begin(), entries.linked_folders.end());
  }
  return images;
}

Entries Walker::list_unless_read(const std::string& folder, std::set<FolderId>& read) {
  struct stat info {};
  if (::fstatat(root_.get(), folder.c_str(), &info, 0) != 0) fail(folder, errno);
  if (!read.emplace(info.st_dev, info.st_ino).second) {
    scan_.skipped.push_back({folder, Skip::kSeenFolder});
    return {};
  }
  return list(folder);
}

void Walker::sort_in(int fd, const ::dirent& entry, std::string path, Entries& entries) {
  unsigned char type = entry.d_type;
  struct stat info {};
  if (type == DT_UNKNOWN) {  // some file systems do not tell
    if (::fstatat(fd, entry.d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) fail(path, errno);
    type = static_cast<unsigned char>(IFTODT(info.st_mode));
  }
  if (entry.d_name[0] == '.') return skip(std::move(path), Skip::kHidden);
  if (type == DT_DIR) return entries.folders.push_back(std::move(path));

  const bool image = is_image_name(entry.d_name);
  if (type == DT_REG && !image) return skip(std::move(path), Skip::kStray);
  if (::fstatat(fd, entry.d_name, &info, 0) != 0) {
    if (errno != ENOENT && errno != ELOOP && errno != ENOTDIR) fail(path, errno);
    return skip(std::move(path), image ? Skip::kNoFile : Skip::kStray);
  }
  if (S_ISDIR(info.st_mode)) return entries.linked_folders.push_back(std::move(path));
  if (!image) return skip(std::move(path), Skip::kStray);
  if (!S_ISREG(info.st_mode)) return skip(std::move(path), Skip::kNoFile);
  if (path.size() >= PATH_MAX) fail(path, ENAMETOOLONG);
  entries.images.push_back({std::move(path), static_cast<std::uint64_t>(info.st_size)});
}

void Walker::fail(const std::string& path, int error) const {
  throw Error(ErrorKind::kData,
              fmt::format("cannot read {}: {}", shown(path.empty() ? scan_.root : scan_.root + "/" + path),
                          std::strerror(error)));
}

void add_images(Scan& scan, const std::vector<Found>& images, std::uint32_t label) {
  for (const Found& image : images) {
    if (image.bytes == 0) {
      scan.skipped.push_back({image.path, Skip::kEmpty});
    } else {
      add_sample(scan, image.path, image.bytes, label);
    }
  }
}

}  // namespace feedring::dataset
