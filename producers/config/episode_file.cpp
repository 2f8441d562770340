// SPDX-License-Identifier: Apache-2.0
#include "producers/config/episode_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <fstream>
#include <new>
#include <system_error>

#include "producers/config/feed_spec.hpp"

namespace feedring {
namespace {

constexpr std::uintmax_t kLargestFile = 256U << 20;  ///< about 600,000 episodes of 80 samples; producers keep them all
constexpr std::uint64_t kVersion = 1;

std::string hex(const XXH128_hash_t& hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

/// A list per class, of the samples of all classes one after another.
nlohmann::ordered_json by_class(const std::vector<std::uint64_t>& samples, const std::vector<std::uint32_t>& counts) {
  nlohmann::ordered_json lists = nlohmann::ordered_json::array();
  auto next = samples.begin();
  for (const std::uint32_t count : counts) {
    lists.push_back(std::vector<std::uint64_t>(next, next + count));
    next += count;
  }
  return lists;
}

/// Reads the lines of one file; every complaint names it.
class Reader {
 public:
  Reader(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  void read(EpisodeSpec& spec) {
    auto list = std::make_shared<EpisodeList>();
    list->file = file_;
    read_first(spec, *list);
    while (!read_last(*list)) read_episode(spec, *list);
    if (list->episodes.empty()) fail("it holds no episode");
    spec.tasks_per_epoch = list->episodes.size();
    spec.fixed = true;
    spec.list = std::move(list);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::kData, fmt::format("the episodes in {} cannot be used: {}", file_, why));
  }
  [[noreturn]] void fail_here(const std::string& why) const { fail(fmt::format("line {} {}", number_, why)); }

  void next_line() {
    before_ = at_;
    const std::size_t end = text_.find('\n', at_);
    ++number_;
    if (end == std::string_view::npos) fail("its end is missing: it was cut off while it was written or copied");
    line_ = nlohmann::json::parse(text_.substr(at_, end - at_), nullptr, false);
    at_ = end + 1;
    if (!line_.is_object()) fail_here("is no JSON object");
  }

  void read_first(EpisodeSpec& spec, EpisodeList& list) {
    const std::string_view begin = text_.substr(0, text_.find('\n'));
    if (begin.find("\"feedring_episodes\"") == std::string_view::npos)
      fail("it is no file that `feedring episodes export` writes");
    next_line();
    try {
      if (line_.at("feedring_episodes") != kVersion)
        fail(fmt::format("it has version {}, and this build reads version {}", line_["feedring_episodes"].dump(),
                         kVersion));
      list.dataset_digest = line_.at("dataset_digest").get<std::string>();
      nlohmann::json drawn = to_json(EpisodeSpec{});
      drawn.update(line_.at("episodes"));
      spec = episode_spec_from_json(drawn);
    } catch (const nlohmann::json::exception& error) {
      fail_here(std::string("does not say how the episodes were drawn: ") + error.what());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kData) throw;
      fail_here(std::string("does not say how the episodes were drawn: ") + error.what());
    }
    constexpr std::uint32_t kMost = 1 << 15;
    for (const Count& count : {spec.ways, spec.shots, spec.queries}) {
      if (count.low < 1 || count.low > count.high || count.high > kMost)
        fail_here(fmt::format("has numbers of classes or samples that are not from 1 to {}", kMost));
    }
    if (spec.unlabelled > kMost || spec.distractors > kMost || spec.support_limit > kMost * kMost)
      fail_here(fmt::format("has numbers of samples above {}", kMost));
    if (const auto sentence = contradiction_in(spec)) fail_here("contradicts itself: " + *sentence);
  }

  /// True where the line was the last one; leaves any other to read_episode().
  bool read_last(EpisodeList& list) {
    if (at_ == text_.size()) fail("its last line is missing: it was cut off while it was written or copied");
    next_line();
    if (!line_.contains("digest")) return false;
    const auto hash = XXH3_128bits(text_.data(), before_);
    list.digest = hex(hash);
    if (line_["digest"] != list.digest || line_.value("episodes", nlohmann::json()) != list.episodes.size()) {
      fail(fmt::format("its {} episodes have the digest {}, and its last line says {} and {}: it was changed",
                       list.episodes.size(), list.digest, line_.value("episodes", nlohmann::json()).dump(),
                       line_["digest"].dump()));
    }
    if (at_ != text_.size()) fail_here("is the last one, and there is more behind it");
    return true;
  }

  const nlohmann::json& member(const char* key) const {
    const auto found = line_.find(key);
    if (found == line_.end() || !found->is_array()) fail_here(fmt::format("has no list \"{}\"", key));
    return *found;
  }

  template <class Integer>
  Integer whole(const nlohmann::json& value) const {
    if (value.is_number_unsigned()) {
      const auto number = value.get<std::uint64_t>();
      if (number <= std::numeric_limits<Integer>::max()) return static_cast<Integer>(number);
    }
    fail_here("has " + value.dump() + " where a number of a class or sample belongs");
  }
  template <class Integer>
  void append(const nlohmann::json& numbers, std::vector<Integer>& to) const {
    if (!numbers.is_array()) fail_here("has " + numbers.dump() + " where a list of samples belongs");
    for (const nlohmann::json& each : numbers) to.push_back(whole<Integer>(each));
  }
  /// The lists of `key`, one behind the other, and how many each has.
  std::vector<std::uint32_t> append_lists(const char* key, std::size_t lists, std::vector<std::uint64_t>& to) const {
    std::vector<std::uint32_t> counts;
    const nlohmann::json& all = member(key);
    if (all.size() != lists) fail_here(fmt::format("has not one list in \"{}\" for each class", key));
    for (const nlohmann::json& each : all) {
      const std::size_t before = to.size();
      append(each, to);
      counts.push_back(static_cast<std::uint32_t>(to.size() - before));
    }
    return counts;
  }

  void read_episode(const EpisodeSpec& spec, EpisodeList& list) {
    Episode& episode = list.episodes.emplace_back();
    if (line_.value("ordinal", nlohmann::json()) != list.episodes.size() - 1)
      fail_here(fmt::format("is not that of the ordinal {}", list.episodes.size() - 1));
    append(member("classes"), episode.classes);
    append(member("label_map"), episode.labels);
    const std::size_t ways = episode.classes.size();
    if (episode.labels.size() != ways) fail_here("has not one label for each class");
    episode.sizes.shots = append_lists("support", ways, episode.support);
    episode.sizes.queries = append_lists("query", ways, episode.query);
    if (spec.unlabelled == 0) return;
    append(member("distractors"), episode.distractors);
    (void)append_lists("unlabelled", ways + episode.distractors.size(), episode.unlabelled);
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t before_ = 0;  ///< where the line in hand begins
  std::size_t number_ = 0;
  nlohmann::json line_;
};

}  // namespace

void put_episode(nlohmann::ordered_json& line, const Episode& episode, std::uint32_t unlabelled) {
  line["classes"] = episode.classes;
  line["support"] = by_class(episode.support, episode.sizes.shots);
  line["query"] = by_class(episode.query, episode.sizes.queries);
  line["label_map"] = episode.labels;
  if (unlabelled == 0) return;
  line["distractors"] = episode.distractors;
  const std::size_t classes = episode.classes.size() + episode.distractors.size();
  line["unlabelled"] = by_class(episode.unlabelled, std::vector<std::uint32_t>(classes, unlabelled));
}

EpisodeFileWriter::EpisodeFileWriter(const EpisodeSpec& spec, std::uint64_t seed, std::uint64_t epoch,
                                     std::string_view dataset_digest, Sink sink)
    : sink_(std::move(sink)), state_(XXH3_createState()), unlabelled_(spec.unlabelled) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_);
  nlohmann::json drawn = to_json(spec);
  for (const char* key : {"file", "file_hex", "file_digest", "tasks_per_epoch"}) drawn.erase(key);
  const nlohmann::ordered_json first{{"feedring_episodes", kVersion},
                                     {"dataset_digest", dataset_digest},
                                     {"seed", seed},
                                     {"epoch", epoch},
                                     {"episodes", drawn}};
  write(first.dump());
}

EpisodeFileWriter::~EpisodeFileWriter() { XXH3_freeState(state_); }

void EpisodeFileWriter::write(std::string_view line) {
  std::string text(line);
  text += '\n';
  XXH3_128bits_update(state_, text.data(), text.size());
  sink_(text);
}

void EpisodeFileWriter::add(const Episode& episode) {
  nlohmann::ordered_json line{{"ordinal", episodes_++}};
  put_episode(line, episode, unlabelled_);
  write(line.dump());
}

std::string EpisodeFileWriter::finish() {
  const std::string digest = hex(XXH3_128bits_digest(state_));
  write(nlohmann::ordered_json{{"episodes", episodes_}, {"digest", digest}}.dump());
  return digest;
}

std::string read_episode_text(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::kData, "the episodes in " + file.string() + " cannot be read: " + why);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) fail(error ? error.message() : "there is no such file");
  if (!std::filesystem::is_regular_file(status)) fail("it is no file");
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error) fail(error.message());
  if (bytes > kLargestFile) fail("it is larger than 256 MiB: export fewer episodes");
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string text(bytes, '\0');
  if (!stream || !stream.read(text.data(), static_cast<std::streamsize>(bytes)))
    fail(std::strerror(errno != 0 ? errno : EIO));
  return text;
}

void take_episodes(const std::string& file, std::string_view text, EpisodeSpec& spec) { Reader(file, text).read(spec); }

void demand_same_data(const EpisodeSpec& spec, std::string_view dataset_digest, const std::filesystem::path& data) {
  if (!spec.list || spec.list->dataset_digest == dataset_digest) return;
  throw Error(ErrorKind::kData,
              fmt::format("the episodes in {} are of a data set with the digest {}, and {} has {}: files were added, "
                          "removed, renamed or changed, so bring the data back, or export the episodes again",
                          spec.list->file, spec.list->dataset_digest, data.string(), dataset_digest));
}

}  // namespace feedring
