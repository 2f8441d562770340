// SPDX-License-Identifier: Apache-2.0
// What tests of `feedring import` share.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "dataset_files.hpp"
#include "producers/dataset/scan.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/program.hpp"

namespace feedring::test {

class Import : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (files_.root() / name).native(); }
  nlohmann::json import(const std::string& source, const std::string& target,
                        std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"import", path(source), path(target), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    if (finished.code != 0) return {};
    EXPECT_EQ(test::schema_error(test::schema_of("import"), finished.lines().at(0)), "");
    return finished.lines().at(0);
  }
  /// "class path" of each sample.
  [[nodiscard]] std::vector<std::string> listing(const std::string& data, const DataChoice& choice = {}) const {
    const Scan scan = scan_data(path(data), nullptr, NoSamples::kIsAnError, choice);
    std::vector<std::string> lines;
    for (const Sample& sample : scan.samples) {
      lines.push_back(scan.classes[sample.label] + ' ' + std::string(scan.path(sample)));
    }
    return lines;
  }
  /// Runs Python's tarfile: "name=bytes" of each member.
  [[nodiscard]] std::string by_python(const std::string& pack) const {
    const std::string out = path("listing");
    const std::string command =
        "python3 -c \"import tarfile,sys; print(*[m.name + '=' + str(m.size) for m in "
        "tarfile.open(sys.argv[1])], sep=';', end='')\" '" +
        path(pack) + "' > '" + out + "'";
    if (std::system(command.c_str()) != 0) return "no python3";  // NOLINT: of a test's own words
    std::ifstream stream(out);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  DatasetFiles files_;
};

/// Files that a script of this folder has made with the reference writers.
class MadeImport : public Import {
 protected:
  explicit MadeImport(std::string script) : script_(std::move(script)) {}
  void SetUp() override {
    const std::string command = "/usr/bin/python3 '" FEEDRING_SOURCE_DIR "/tests/unit/" + script_ + "' '" +
                                files_.root().native() + "' 2>/dev/null";
    const int status = std::system(command.c_str());  // NOLINT: of a test's own words
    if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no " << script_ << ": /usr/bin/python3 lacks a package";
    ASSERT_EQ(status, 0) << command;
  }
  /// The file of a sample of a pack.
  [[nodiscard]] std::string file(const std::string& pack, std::size_t number) const {
    const Scan scan = scan_data(path(pack));
    const Sample& sample = scan.samples.at(number);
    std::ifstream stream(path(pack), std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(scan.members.at(sample.member).offset));
    std::string bytes(sample.bytes, '\0');
    stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  /// What is said of a source that is refused, without a pack left.
  [[nodiscard]] std::string refusal(const std::string& source, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"import", path(source), path("x.tar")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = run_command(arguments);
    EXPECT_EQ(finished.code, 3) << source << ": " << finished.err;
    EXPECT_FALSE(std::filesystem::exists(path("x.tar"))) << source;
    EXPECT_FALSE(std::filesystem::exists(path("x.tar.part"))) << source;
    EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 1) << finished.err;
    return finished.err;
  }

 private:
  std::string script_;
};

}  // namespace feedring::test
