// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/episode_classes.hpp"

namespace feedring {

std::vector<SampleClass> episode_classes(const Index& index) {
  std::vector<SampleClass> classes;
  for (std::uint64_t number = 0; number < index.classes(); ++number) {
    const Range range = index.class_range(number);
    classes.push_back({std::string(index.class_name(number)), range.begin, range.size()});
  }
  return classes;
}

std::vector<SampleClass> episode_classes(const Scan& scan) {
  std::vector<SampleClass> classes;
  for (const std::string& name : scan.classes) classes.push_back({name, 0, 0});
  for (std::uint64_t i = 0; i < scan.samples.size(); ++i) {
    SampleClass& of = classes[scan.samples[i].label];
    if (of.count++ == 0) of.begin = i;  // samples are sorted by label
  }
  return classes;
}

}  // namespace feedring
