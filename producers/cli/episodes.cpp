// SPDX-License-Identifier: Apache-2.0
// `feedring episodes export` and `import`: episodes as a file, so that others evaluate on the same ones.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "producers/cli/commands.hpp"
#include "producers/cli/episode_options.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/config/episode_file.hpp"
#include "producers/config/json_text.hpp"
#include "producers/plan/episode.hpp"
#include "producers/pool/episode_classes.hpp"

namespace feedring::cli {
namespace {

struct Options {
  FeedChoice feed;
  EpisodeOptions episodes;
  std::optional<std::uint64_t> seed;
  std::uint64_t epoch = 0;
  std::string output = "-";
  bool json = false;
};

/// A file that is there when all of it is: written beside its place, then moved. "-" is standard output.
class Output {
 public:
  explicit Output(std::string file) : file_(std::move(file)), part_(file_ + ".part") {
    if (file_ == "-") return;
    errno = 0;
    stream_.open(part_, std::ios::binary | std::ios::trunc);
    if (!stream_) fail();
  }
  ~Output() {
    std::error_code ignored;
    if (stream_.is_open()) std::filesystem::remove(part_, ignored);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    if (file_ == "-") return write_bytes(text);
    if (!stream_.write(text.data(), static_cast<std::streamsize>(text.size()))) fail();
  }
  void finish() {
    if (file_ == "-") return;
    errno = 0;
    stream_.flush();
    if (!stream_ || std::rename(part_.c_str(), file_.c_str()) != 0) fail();
    stream_.close();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::kUsage, "cannot write " + file_ + ": " + std::strerror(errno != 0 ? errno : EIO));
  }

  std::string file_;
  std::string part_;
  std::ofstream stream_;
};

void demand_episodes(const FeedSpec& spec) {
  if (spec.episodes) return;
  throw Error(ErrorKind::kUsage,
              "feed '" + spec.name +
                  "' has samples and no episodes: give --ways and the like, or a feed with a table " +
                  "[feed.NAME.episodes]");
}

void export_episodes(const Options& options) {
  ChosenFeed chosen = resolve_feed(options.feed);
  FeedSpec& spec = chosen.spec();
  if (options.seed) spec.seed = *options.seed;
  options.episodes.apply(spec, false);
  demand_episodes(spec);
  const Scan scan = scan_feed(chosen);
  const std::string data = dataset_digest(scan);
  demand_same_data(*spec.episodes, data, spec.data);
  EpisodeSampler sampler(*spec.episodes, episode_classes(scan), spec.seed);
  for (const std::string& name : sampler.pool().skipped())
    spdlog::warn("class \"{}\" has too few samples for an episode and is left out", printable(name));
  Output output(options.output);
  EpisodeFileWriter writer(*spec.episodes, spec.seed, options.epoch, data,
                           [&output](std::string_view line) { output.write(line); });
  Episode episode;
  for (std::uint64_t ordinal = 0; ordinal < sampler.tasks_per_epoch(); ++ordinal) {
    sampler.episode(options.epoch, ordinal, episode);
    writer.add(episode);
  }
  const std::string digest = writer.finish();
  output.finish();
  spdlog::info("{} episodes written, digest {}", sampler.tasks_per_epoch(), digest);
}

std::string text_of(const Count& count) {
  return count.varies() ? fmt::format("{} to {}", count.low, count.high) : std::to_string(count.high);
}

void import_episodes(const Options& options) {
  ChosenFeed chosen = resolve_feed(options.feed);
  FeedSpec& spec = chosen.spec();
  options.episodes.apply(spec, false);
  const Scan scan = scan_feed(chosen);
  demand_same_data(*spec.episodes, dataset_digest(scan), spec.data);
  const EpisodeSampler sampler(*spec.episodes, episode_classes(scan), spec.seed);
  const EpisodeList& list = *spec.episodes->list;
  const std::string file = std::filesystem::absolute(options.episodes.file).lexically_normal().native();
  if (options.json) {
    nlohmann::ordered_json line;
    line["episodes"] = list.episodes.size();
    line["digest"] = list.digest;
    line["dataset_digest"] = list.dataset_digest;
    const auto put = [&](const char* key, const Count& count) { line[key] = {count.low, count.high}; };
    put("ways", spec.episodes->ways);
    put("shots", spec.episodes->shots);
    put("queries", spec.episodes->queries);
    write_json(line);
    return;
  }
  write_line(
      fmt::format("{} episodes of {} classes, {} shots and {} queries; digest {}; the data are those they were "
                  "drawn from. A feed draws them with",
                  list.episodes.size(), text_of(spec.episodes->ways), text_of(spec.episodes->shots),
                  text_of(spec.episodes->queries), list.digest));
  write_line("episodes = { file = " + nlohmann::json(to_utf8(file)).dump() + " }");
}

}  // namespace

void add_episodes(CLI::App& app, Exit&) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("episodes", "Writes fixed episodes to a file, or looks at such a file.");
  command->require_subcommand(1);
  command->footer(
      "  feedring episodes export -c feed.toml --feed test -o test.jsonl\n"
      "  feedring episodes export novel/ --ways 5 --shots 1 --queries 15 --episodes 600 --seed 7 > test.jsonl\n"
      "  feedring episodes import test.jsonl novel/          is it whole, and are these the data it is about?\n"
      "A feed takes its episodes from such a file with episodes = { file = \"test.jsonl\" }.");
  CLI::App* to = command->add_subcommand("export", "Writes the episodes of a feed's epoch, a line each.");
  add_feed_options(*to, options->feed);
  add_episode_options(*to, options->episodes);
  to->add_option("--seed", options->seed, "Default: the feed's")->type_name("S");
  to->add_option("--epoch", options->epoch, "Default: 0")->type_name("E");
  to->add_option("-o,--output", options->output, "File to write; - for standard output (default)")->type_name("FILE");
  to->callback([options] { export_episodes(*options); });
  CLI::App* from = command->add_subcommand("import", "Verifies a file of episodes against the data of a feed.");
  from->add_option("FILE", options->episodes.file, "File that `export` wrote")->required();
  add_feed_options(*from, options->feed);
  from->add_flag("--json", options->json, "One JSON object");
  from->callback([options] { import_episodes(*options); });
}

}  // namespace feedring::cli
