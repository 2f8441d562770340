// SPDX-License-Identifier: Apache-2.0
#include "producers/config/load_own.hpp"

namespace feedring {
namespace {

constexpr std::int64_t kMostPoints = 1 << 20;
// TorchMeta's numbers of tasks.
constexpr std::uint64_t kTasks = 1'000'000;
constexpr std::uint64_t kHarmonicTasks = 5'000;

}  // namespace

std::optional<OwnSpec> read_tasks(TomlTable& table, const toml::table& source, const std::string& feed,
                                  const std::string& file) {
  const toml::node* node = table.find("tasks");
  if (node == nullptr) return std::nullopt;
  const std::string title = "[feed." + feed + ']';
  if (!node->is_table())
    table.wrong("tasks", *node, "a table such as { kind = \"sinusoid\", shots = 5, queries = 15 }");
  const std::string why = "does not go with tasks, which are made from nothing: leave it out";
  refuse_keys_of_images(source, title, file, why);
  for (const std::string_view key : {"tensors", "options", "attachment"}) {
    if (source.contains(key)) fail_at(file, source.get(key)->source(), title + ' ' + std::string(key) + ' ' + why);
  }
  TomlTable given(*node->as_table(), "[feed." + feed + ".tasks]", file);
  TasksSpec tasks;
  given.read_word("kind", tasks.kind);
  given.read("shots", tasks.shots, 1, kMostPoints);
  given.read("queries", tasks.queries, 1, kMostPoints);
  given.read("noise_std", tasks.noise_std, 0.0, 1e9);
  given.read("seed", tasks.seed, 0, INT64_MAX);
  given.refuse_unknown_keys();

  OwnSpec own;
  own.tasks = tasks;
  own.samples = tasks.kind == Tasks::kHarmonic ? kHarmonicTasks : kTasks;
  table.read("samples", own.samples, 1, kMostSamples);
  Dtype dtype = Dtype::kFloat32;
  if (const std::string* name = table.text("dtype", "\"float32\" or \"float64\"")) {
    if (*name != "float32" && *name != "float64")
      table.wrong("dtype", *table.find("dtype"), "\"float32\" or \"float64\", as the numbers of tasks have");
    if (*name == "float64") dtype = Dtype::kFloat64;
  }
  own.tensors = {{"support_inputs", dtype, {tasks.shots, 1}},
                 {"support_targets", dtype, {tasks.shots, 1}},
                 {"query_inputs", dtype, {tasks.queries, 1}},
                 {"query_targets", dtype, {tasks.queries, 1}}};
  return own;
}

}  // namespace feedring
