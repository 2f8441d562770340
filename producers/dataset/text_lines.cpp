// SPDX-License-Identifier: Apache-2.0
#include "producers/dataset/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <feedring/error.hpp>

#include "producers/dataset/labels.hpp"

namespace feedring::dataset {

TextLines::TextLines(const std::filesystem::path& file)
    : name_(file.native()), file_(std::fopen(file.c_str(), "re"), std::fclose) {
  if (!file_) fail(std::strerror(errno));
  start();
}

TextLines::~TextLines() { std::free(buffer_); }

// An image or an archive would else be read as one endless line.
void TextLines::start() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::array<char, 4096> bytes{};
  const std::string_view begin(bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file_.get()));
  if (begin.find('\0') != std::string_view::npos) {
    fail("it is no text: data is a folder of images, or a text file with the path of an image in each line");
  }
  std::rewind(file_.get());
  if (begin.starts_with(kByteOrderMark)) (void)std::fseek(file_.get(), kByteOrderMark.size(), SEEK_SET);
}

bool TextLines::next(std::string_view& line) {
  if (!again_) {
    errno = 0;
    const ssize_t length = ::getline(&buffer_, &capacity_, file_.get());
    if (length < 0) {
      if (std::ferror(file_.get()) != 0) fail(std::strerror(errno));
      return false;
    }
    ++line_;
    length_ = static_cast<std::size_t>(length);
  }
  again_ = false;
  line = {buffer_, length_};
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.find('\0') != std::string_view::npos) fail("a NUL byte: this is no manifest");
  return true;
}

void TextLines::fail(std::string_view what) const {
  throw Error(ErrorKind::kData, line_ == 0 ? fmt::format("cannot read manifest {}: {}", shown(name_), what)
                                           : fmt::format("manifest {}, line {}: {}", shown(name_), line_, what));
}

}  // namespace feedring::dataset
