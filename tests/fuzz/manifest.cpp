// SPDX-License-Identifier: Apache-2.0
// A manifest: read in each of its forms, and made into an index whose every record is looked at.
#include <feedring/error.hpp>

#include "producers/dataset/index.hpp"
#include "producers/dataset/manifest.hpp"
#include "producers/dataset/manifest_forms.hpp"
#include "tests/support/fuzz_input.hpp"

namespace feedring {
namespace {

void look_at(const Scan& scan) {
  const UniqueFd fd = build_index(scan);
  const Index index = Index::attach(fd.get());
  test::fuzz_require(index.size() == scan.samples.size() && index.classes() == scan.classes.size());
  for (std::uint64_t sample = 0; sample < index.size(); ++sample) {
    const auto [begin, end] = index.class_range(index.label(sample));
    test::fuzz_require(index.path(sample) == scan.path(scan.samples[sample]) && begin <= sample && sample < end);
  }
}

template <class Read>
void look(const Read& read) {
  try {
    look_at(read());
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kData);
  }
}

}  // namespace
}  // namespace feedring

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedring;
  const test::FuzzFile file({reinterpret_cast<const char*>(data), size});
  const auto by = [&](const auto& form, const DataChoice& choice) {
    look([&] {
      dataset::TextLines lines(file.path());
      dataset::ManifestRows rows(file.path(), choice, dataset::ManifestRows::Places::kUsual);
      form(lines, rows);
      return rows.finish(nullptr);
    });
  };
  look([&] { return read_manifest(file.path()); });
  by([](auto& lines, auto& rows) { dataset::read_table(lines, ',', rows); }, {});
  by([](auto& lines, auto& rows) { dataset::read_table(lines, ',', rows); }, {"train", {"ant", "x/", "y/bee"}});
  const DataChoice columns{{},
                           {},
                           1,
                           {{"mask", ColumnKind::kMask},
                            {"before", ColumnKind::kImage},
                            {"box", ColumnKind::kFloat, 2},
                            {"tags", ColumnKind::kMultiHot},
                            {"place", ColumnKind::kClass}},
                           "weight"};
  by([](auto& lines, auto& rows) { dataset::read_table(lines, ',', rows); }, columns);
  by([](auto& lines, auto& rows) { dataset::read_json_lines(lines, rows); }, {});
  by([](auto& lines, auto& rows) { dataset::read_json_lines(lines, rows); }, columns);
  return 0;
}
