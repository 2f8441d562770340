// SPDX-License-Identifier: Apache-2.0
#include "producers/config/file_list.hpp"

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <fstream>
#include <system_error>

namespace feedring {

std::vector<std::string> read_file_list(const std::string& list, const std::filesystem::path& folder) {
  const std::filesystem::path path = (folder / list).lexically_normal();
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::kUsage, "the list of files " + path.string() + " cannot be read: " + why);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) fail(error ? error.message() : "there is no such file");
  if (!std::filesystem::is_regular_file(status)) fail("it is no file");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(std::strerror(errno));
  std::vector<std::string> names;
  for (std::string line; std::getline(stream, line);) {
    if (names.empty() && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    if (line.ends_with('\r')) line.pop_back();
    if (line.find('\0') != std::string::npos) fail("it is no text");
    if (!line.empty()) names.push_back(std::move(line));
  }
  if (stream.bad()) fail(std::strerror(errno));
  if (names.empty()) fail("it names no file");
  return names;
}

}  // namespace feedring
