// SPDX-License-Identifier: Apache-2.0
// `feedring decode` against Pillow, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/jpeg_writer.hpp"
#include "tests/support/program.hpp"
#include "tests/support/shared_data.hpp"
#include "tests/unit/dataset_files.hpp"

namespace feedring {
namespace {

using test::Finished;
using test::run_command;
using testing::HasSubstr;
using testing::StartsWith;

/// The PPM that Pillow writes of `steps` applied to the image i; "" where Pillow is missing.
std::string pillow(const std::string& file, const std::string& steps) {
  const std::string script = "import sys\nfrom PIL import Image\ni = Image.open(sys.argv[1]).convert('RGB')\n" + steps +
                             "\ni.save(sys.stdout.buffer, 'PPM')\n";
  const std::string line = "/usr/bin/python3 -c \"" + script + "\" '" + file + "' 2>&1";
  std::string out;
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 65536> buffer{};
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), got);
  return pclose(pipe) == 0 ? out : "";
}

bool pillow_is_installed() { return std::system("/usr/bin/python3 -c 'import PIL' 2> /dev/null") == 0; }

class Decode : public testing::Test {
 protected:
  Decode() {
    test::JpegShape shape;
    shape.width = 101;
    shape.height = 67;
    shape.h[0] = shape.v[0] = 2;
    const auto bytes = test::write_jpeg(shape);
    files_.text("a.jpg", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    file_ = (files_.root() / "a.jpg").native();
  }
  [[nodiscard]] std::string decoded(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"decode", file_, "-o", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out;
  }

  DatasetFiles files_;
  std::string file_;
};

TEST_F(Decode, WritesTheWholeImage) {
  if (!pillow_is_installed()) GTEST_SKIP() << "Pillow (python3-pil) is not installed";
  const std::string expected = pillow(file_, "");
  ASSERT_THAT(expected, StartsWith("P6\n101 67\n255\n"));
  EXPECT_TRUE(decoded({}) == expected);
}

TEST_F(Decode, ResizesTheShorterSideAsTorchvisionDoes) {
  if (!pillow_is_installed()) GTEST_SKIP() << "Pillow (python3-pil) is not installed";
  // torchvision: int(40 * 101 / 67) = int(60.298…)
  EXPECT_TRUE(decoded({"--size", "40"}) == pillow(file_, "i = i.resize((60, 40), Image.BILINEAR)"));
}

TEST_F(Decode, ResizesToAnySizeWithAnyFilter) {
  if (!pillow_is_installed()) GTEST_SKIP() << "Pillow (python3-pil) is not installed";
  for (const char* filter : {"nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"}) {
    std::string constant = filter;
    for (char& c : constant) c = static_cast<char>(c - 'a' + 'A');
    EXPECT_TRUE(decoded({"--size", "33x90", "--filter", filter}) ==
                pillow(file_, "i = i.resize((33, 90), Image." + constant + ")"))
        << filter;
  }
}

TEST_F(Decode, CutsOutABoxFirst) {
  if (!pillow_is_installed()) GTEST_SKIP() << "Pillow (python3-pil) is not installed";
  EXPECT_TRUE(decoded({"--box", "13,9,50,31"}) == pillow(file_, "i = i.crop((13, 9, 63, 40))"));
  EXPECT_TRUE(decoded({"--box", "51,36,50,31", "--size", "24"}) ==
              pillow(file_, "i = i.crop((51, 36, 101, 67)).resize((int(24 * 50 / 31), 24), Image.BILINEAR)"));
}

TEST_F(Decode, WritesAFile) {
  const std::string out = (files_.root() / "a.ppm").native();
  const Finished finished = run_command({"decode", file_, "--size", "7x5", "-o", out});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.out + finished.err, "");
  const auto bytes = test::read_file(out);
  EXPECT_EQ(bytes.size(), std::string("P6\n7 5\n255\n").size() + 7 * 5 * 3);
}

TEST_F(Decode, RefusesWhatCannotBe) {
  const auto complaint = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"decode", file_, "-o", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 2);
    EXPECT_EQ(finished.out, "");
    return finished.err;
  };
  for (const char* size : {"0", "x", "4x", "0x4", "4x0", "4x4x4", "-4", "4.5", "99999999999"}) {
    EXPECT_THAT(complaint({"--size", size}), HasSubstr("--size")) << size;
  }
  EXPECT_THAT(complaint({"--size", "100000"}), HasSubstr("asks for more than 178956970 pixels"));
  EXPECT_THAT(complaint({"--size", "2147483647"}), HasSubstr("asks for more than"));
  for (const char* box : {"1,2,3", "0,0,0,1", "1,0,101,1", "0,67,1,1", "0,0,1,2147483647", "a,0,1,1"}) {
    EXPECT_THAT(complaint({"--box", box}), HasSubstr("--box")) << box;
  }
  EXPECT_THAT(complaint({"--filter", "cubic"}), HasSubstr("\"bicubic\""));
  EXPECT_EQ(run_command({"decode", file_, "-o", "/nowhere/a.ppm"}).code, 2);
  EXPECT_EQ(run_command({"decode", file_}).code, 2);
}

TEST_F(Decode, NamesAFaultyFile) {
  files_.text("bad.jpg", "<html>");
  const Finished finished = run_command({"decode", (files_.root() / "bad.jpg").native(), "-o", "-"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(finished.err, HasSubstr("bad.jpg: "));
  EXPECT_EQ(run_command({"decode", files_.root().native(), "-o", "-"}).code, 3) << "a folder";
  EXPECT_EQ(run_command({"decode", (files_.root() / "none").native(), "-o", "-"}).code, 3);
}

}  // namespace
}  // namespace feedring
