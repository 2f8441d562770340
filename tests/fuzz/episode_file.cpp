// SPDX-License-Identifier: Apache-2.0
// A file of episodes: its lines are the input, its last line the digest that they have. What is taken is drawn, with
// all substitutes, from data that can give it.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <feedring/error.hpp>

#include "producers/config/episode_file.hpp"
#include "producers/plan/episode.hpp"
#include "tests/support/fuzz_input.hpp"

namespace {

using namespace feedring;

void draw(const EpisodeSpec& spec) {
  std::vector<SampleClass> classes;
  for (std::uint64_t number = 0; number < 6; ++number) classes.push_back({fmt::format("c{}", number), 4 * number, 4});
  EpisodeSampler sampler(spec, classes, 0);
  const EpisodeShape shape = sampler.shape();
  Episode episode;
  for (std::uint64_t ordinal = 0; ordinal < sampler.tasks_per_epoch(); ++ordinal) {
    sampler.episode(0, ordinal, episode);
    test::fuzz_require(episode.support.size() <= shape.support && episode.query.size() <= shape.queries &&
                       episode.unlabelled.size() <= shape.unlabelled && episode.classes.size() <= shape.ways);
    for (std::uint32_t place = 0; place < episode.classes.size(); ++place) {
      for (std::uint64_t attempt = 0; const auto other = sampler.substitute(0, ordinal, place, 0, attempt); ++attempt) {
        test::fuzz_require(*other / 4 == episode.classes[place] % classes.size() && attempt < 4);
        test::fuzz_require(std::find(episode.support.begin(), episode.support.end(), *other) == episode.support.end());
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  text += fmt::format("{{\"episodes\":{},\"digest\":\"{:016x}{:016x}\"}}\n", lines - 1, hash.high64, hash.low64);
  try {
    EpisodeSpec spec;
    take_episodes("input", text, spec);
    test::fuzz_require(spec.list->episodes.size() == static_cast<std::size_t>(lines - 1));
    draw(spec);
  } catch (const Error& error) {
    test::fuzz_require(error.kind() == ErrorKind::kData);
  }
  return 0;
}
