// SPDX-License-Identifier: Apache-2.0
// `feedring check`: decodes every file of a data set as a feed would, and says what is wrong with which.
#include <algorithm>
#include <atomic>
#include <feedring/error.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "producers/cli/commands.hpp"
#include "producers/cli/episode_options.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/judge.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/read_image.hpp"
#include "producers/config/episode_file.hpp"
#include "producers/config/feed_spec.hpp"
#include "producers/config/json_text.hpp"
#include "producers/dataset/archive.hpp"
#include "producers/dataset/scan.hpp"
#include "producers/decode/decoder.hpp"
#include "producers/plan/episode.hpp"
#include "producers/pool/episode_classes.hpp"
#include "producers/pool/sample_order.hpp"
#include "producers/transform/decode_options.hpp"
#include "runtime/cores.hpp"

namespace feedring::cli {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json to_json(const Verdict& verdict) {
  nlohmann::ordered_json line;
  const bool known = verdict.info.format != Format::kUnknown;
  const bool sized = verdict.info.size.width > 0;
  put_bytes(line, "path", verdict.path);
  line["ok"] = !verdict.reason;
  line["reason"] = nullptr;
  if (verdict.reason) line["reason"] = to_utf8(*verdict.reason);
  line["format"] = nullptr;
  if (known) line["format"] = name_of(verdict.info.format);
  line["width"] = nullptr;
  if (sized) line["width"] = verdict.info.size.width;
  line["height"] = nullptr;
  if (sized) line["height"] = verdict.info.size.height;
  line["bytes"] = nullptr;
  if (verdict.bytes) line["bytes"] = *verdict.bytes;
  if (!verdict.column.empty()) {
    put_bytes(line, "column", verdict.column);
    line["index"] = verdict.index;
  }
  return line;
}

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const Verdict& verdict) {
    ++files_;
    (verdict.skipped ? skipped_ : verdict.reason ? failed_ : ok_) += 1;
    if (json_) {
      write_json(to_json(verdict));
    } else if (verdict.reason) {
      write_line(printable(verdict.path) + ": " + printable(*verdict.reason));
    }
  }

  void finish(const std::string& digest) const {
    if (json_) {
      write_json(
          {{"summary",
            {{"files", files_}, {"ok", ok_}, {"failed", failed_}, {"skipped", skipped_}, {"dataset_digest", digest}}}});
      return;
    }
    write_line(std::to_string(files_) + (files_ == 1 ? " file: " : " files: ") + std::to_string(ok_) + " ok, " +
               std::to_string(failed_) + " failed, " + std::to_string(skipped_) + " skipped; data set " + digest);
  }

  [[nodiscard]] std::uint64_t failed() const noexcept { return failed_; }

 private:
  bool json_;
  std::uint64_t files_ = 0;
  std::uint64_t ok_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t skipped_ = 0;
};

/// The samples of a scan, decoded by several threads, reported in their order.
void check_samples(const Scan& scan, std::size_t threads, const FeedSpec& spec, Report& report) {
  constexpr std::size_t kAtOnce = 1024;  // files between two looks at the clock: a second or so of decoding
  std::vector<std::unique_ptr<Judge>> judges;
  for (std::size_t i = 0; i < threads; ++i)
    judges.push_back(std::make_unique<Judge>(decode_options(spec), spec.max_pixels));
  std::vector<std::vector<Verdict>> verdicts(kAtOnce);
  Progress progress;
  for (std::size_t first = 0; first < scan.samples.size(); first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, scan.samples.size() - first);
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> errors(threads);
    const auto work = [&](std::size_t thread) {
      try {
        for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
          verdicts[i] = judges[thread]->look_at(scan, first + i);
        }
      } catch (...) {
        errors[thread] = std::current_exception();
      }
    };
    std::vector<std::jthread> helpers;
    for (std::size_t thread = 1; thread < threads; ++thread) helpers.emplace_back(work, thread);
    work(0);
    helpers.clear();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    progress.clear();
    for (std::size_t i = 0; i < count; ++i) {
      for (const Verdict& verdict : verdicts[i]) report.add(verdict);
    }
    progress.show("checked " + std::to_string(first + count) + " of " + std::to_string(scan.samples.size()) + " files");
  }
}

Verdict skipped(std::string path, const std::string& why, const fs::path& file) {
  Verdict verdict;
  verdict.path = std::move(path);
  verdict.skipped = true;
  verdict.reason = "skipped: " + why;
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error) verdict.bytes = size;
  return verdict;
}

/// A hidden folder stands for all that is in it; a linked folder that was read elsewhere has no files of its own.
void report_skipped(const Scan& scan, Report& report) {
  for (const Skipped& each : scan.skipped) {
    if (!scan.archives.empty()) {  // there is no such file to look at
      report.add(skipped(each.path, std::string(reason_of(each.why)), {}));
      continue;
    }
    const fs::path place = fs::path(scan.root) / each.path;
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(place, error))) {
      if (!fs::is_directory(place, error)) report.add(skipped(each.path, std::string(reason_of(each.why)), place));
      continue;
    }
    std::vector<std::string> inside;
    for (auto it = fs::recursive_directory_iterator(place, fs::directory_options::skip_permission_denied, error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      std::error_code ignored;
      if (it->is_regular_file(ignored)) inside.push_back(it->path().lexically_relative(scan.root).native());
    }
    std::sort(inside.begin(), inside.end());
    for (const std::string& path : inside) report.add(skipped(path, "in a hidden folder", fs::path(scan.root) / path));
  }
}

/// A file that is an image by name or content; anything else is a list of samples.
bool is_one_image(const fs::path& path) {
  if (fs::is_directory(path)) return false;
  if (is_image_name(path.filename().native())) return true;
  if (is_archive_name(path.filename().native())) return false;
  FileBytes file;
  const Fault fault = file.read(path.native());
  if (fault) throw Error(ErrorKind::kData, path.native() + ": " + *fault);
  return sniff(file.bytes()) != Format::kUnknown;
}

/// Reports one image under the path that was given; returns the digest of a data set of this file alone.
std::string check_one(const std::string& path, Report& report) {
  Verdict verdict = Judge().look_at(path);
  if (verdict.bytes == 0) verdict = skipped(path, std::string(reason_of(Skip::kEmpty)), path);
  if (!verdict.bytes) throw Error(ErrorKind::kData, path + ": " + *verdict.reason);
  Scan scan;
  scan.paths = fs::path(path).filename().native() + '\0';
  if (!verdict.skipped) {
    scan.samples.push_back({.path_begin = 0,
                            .bytes = *verdict.bytes,
                            .path_length = static_cast<std::uint32_t>(scan.paths.size() - 1),
                            .label = 0});
  }
  report.add(verdict);
  return dataset_digest(scan);
}

struct Options {
  FeedChoice feed;
  EpisodeOptions episodes;
  bool json = false;
  std::uint32_t threads = 0;
};

/// What episodes would lack is said before a long look at the files. Throws Error(kData | kUsage).
void demand_episodes(const Options& options, FeedSpec spec, const Scan& scan) {
  options.episodes.apply(spec, true);
  if (!spec.episodes) return;
  demand_same_data(*spec.episodes, dataset_digest(scan), spec.data);
  (void)EpisodeSampler(*spec.episodes, episode_classes(scan), spec.seed);
}

void check_data(const Options& options, const FeedSpec& spec, Report& report) {
  const Scan scan = scan_samples(spec, nullptr, NoSamples::kIsAResult);
  demand_episodes(options, spec, scan);
  check_samples(scan, options.threads != 0 ? options.threads : granted_cores().cores, spec, report);
  report_skipped(scan, report);
  report.finish(dataset_digest(scan));
}

int check(const Options& options) {
  Report report(options.json);
  const std::string& path = options.feed.data;
  std::error_code error;
  if (!options.feed.config.empty() || path.empty()) {
    const ChosenFeed chosen = resolve_feed(options.feed);
    demand_files(chosen.spec());
    check_data(options, chosen.spec(), report);
  } else if (!fs::exists(path, error) && archives_of(path).empty()) {
    throw Error(ErrorKind::kData, path + ": no such file or folder");
  } else if (fs::exists(path, error) && is_one_image(path)) {
    report.finish(check_one(path, report));
  } else {
    FeedSpec spec;
    spec.data = path;
    apply_data_options(options.feed, spec);
    check_data(options, spec, report);
  }
  return report.failed() == 0 ? 0 : kFindings;
}

}  // namespace

void add_check(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Decodes every file and names those that fail.");
  command->footer(
      "  feedring check photos/               names each file that does not decode\n"
      "  feedring check photos/ --json        one line of JSON a file, and a summary\n"
      "  feedring check -c feed.toml          the data of a feed, and whether it can give its episodes\n"
      "Exit code 1 if and only if a file failed; skipped files (stray, hidden, empty) did not.");
  command->add_option("DIR|FILE", options->feed.data, "Folder of images, a manifest, or one image");
  command->add_option("-c,--config", options->feed.config, "Configuration file, in the place of DIR")
      ->type_name("FILE");
  command->add_option("--feed", options->feed.feed, "Feed of the configuration (default: its first)")
      ->type_name("NAME");
  add_data_options(*command, options->feed);
  add_episode_options(*command, options->episodes);
  command->add_flag("--json", options->json, "One JSON object a line");
  command->add_option("-j,--threads", options->threads, "Decoding threads (default: the granted cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  command->callback([options, &exit] { exit.code = check(*options); });
}

}  // namespace feedring::cli
