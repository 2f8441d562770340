// SPDX-License-Identifier: Apache-2.0
// `feedring dump`: which sample goes to which rank at which step, worked out without a pool and without decoding.
#include <feedring/error.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "producers/cli/commands.hpp"
#include "producers/cli/dump_episodes.hpp"
#include "producers/cli/dump_options.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/read_image.hpp"
#include "producers/config/json_text.hpp"
#include "producers/config/words.hpp"
#include "producers/decode/decoder.hpp"
#include "producers/plan/plan.hpp"
#include "producers/pool/sample_order.hpp"
#include "producers/transform/decode_options.hpp"
#include "producers/transform/transform.hpp"
#include "runtime/schedule.hpp"

namespace feedring::cli {
namespace {

/// The random choices of a sample: what its transform would do to an image of its size, or those of its views.
class Drawer {
 public:
  explicit Drawer(const FeedSpec& spec)
      : one_(spec.views.empty()), max_pixels_(spec.max_pixels), options_(decode_options(spec)) {
    for (const ViewSpec& view : views_of(spec)) views_.push_back({view, Chain::parse(view.transform)});
  }

  void put(nlohmann::ordered_json& line, const Scan& scan, const Sample& sample, const Plan& plan,
           std::uint64_t ordinal) {
    ImageInfo info;
    nlohmann::json drawn;
    Fault fault = file_.read(scan, sample);
    if (!fault) fault = decoder_.probe(file_.bytes(), max_pixels_, info, options_);
    if (!fault) fault = draw(info.size, plan, ordinal, drawn);
    line["plan"] = nullptr;
    if (!fault) line["plan"] = drawn;
    if (fault) line["fault"] = to_utf8(*fault);
  }

 private:
  struct View {
    ViewSpec spec;
    Chain chain;
  };

  Fault draw(Size size, const Plan& plan, std::uint64_t ordinal, nlohmann::json& drawn) const {
    for (const View& view : views_) {
      for (std::uint32_t i = 0; i < view.spec.count.value_or(1); ++i) {
        Draw random = plan.draw(ordinal, Stream::kAugment, drawn.size());
        Choices choices;
        if (Fault fault = view.chain.draw(size, random, choices)) return fault;
        if (one_) {
          drawn = to_json(choices);
        } else {
          drawn.push_back({{"view", view.spec.name}, {"drawn", to_json(choices)}});
        }
      }
    }
    return std::nullopt;
  }

  bool one_;
  std::vector<View> views_;
  std::uint64_t max_pixels_;
  DecodeOptions options_;
  FileBytes file_;
  Decoder decoder_;
};

/// One feed's epoch, laid out over ranks and steps.
class Dump {
 public:
  Dump(const DumpOptions& options, const FeedSpec& spec, const Scan& scan)
      : options_(options),
        spec_(spec),
        scan_(scan),
        tables_(draw_tables(scan)),
        order_(spec, scan.samples.size(), tables_.sums, tables_.sources, tables_.members),
        plan_(spec.seed, options.epoch, order_.order()),
        schedule_(order_.order().per_epoch, spec.shard == Shard::kNone ? 1 : options.world, spec.batch_size,
                  spec.remainder) {
    if (options.plan) drawer_.emplace(spec);
  }

  void write() {
    schedule_.demand_steps();
    if (!options_.json)
      write_line("epoch\tstep\trank\tordinal\tindex\tlabel\tvalid\tpath" + std::string(options_.plan ? "\tplan" : ""));
    for_each_share(options_, schedule_.steps(), [this](std::uint64_t step, std::uint32_t rank) { write(step, rank); });
  }

 private:
  void write(std::uint64_t step, std::uint32_t rank) {
    const Share share = schedule_.share(step, spec_.shard == Shard::kNone ? 0 : rank);
    for (std::uint32_t row = 0; row < spec_.batch_size; ++row) {
      const std::uint64_t ordinal = ordinal_of_row(share, row, order_.order().per_epoch);
      const std::uint64_t index = plan_.sample(ordinal);
      const Sample& sample = scan_.samples[index];
      const std::string_view path = scan_.path(sample);
      nlohmann::ordered_json line{
          {"epoch", options_.epoch}, {"step", step}, {"rank", rank}, {"ordinal", ordinal}, {"index", index}};
      put_bytes(line, "path", path);
      line["label"] = sample.label;
      put_bytes(line, "class", scan_.classes[sample.label]);
      line["valid"] = row < share.valid;
      if (drawer_) drawer_->put(line, scan_, sample, plan_, ordinal);
      if (options_.json) {
        write_json(line);
      } else {
        write_text(line, path);
      }
    }
  }

  static void write_text(const nlohmann::ordered_json& line, std::string_view path) {
    std::string text;
    for (const char* key : {"epoch", "step", "rank", "ordinal", "index", "label", "valid"})
      text += line[key].dump() + '\t';
    text += printable(path);
    if (line.contains("plan"))
      text += '\t' + (line.contains("fault") ? printable(line["fault"].get<std::string>()) : line["plan"].dump());
    write_line(text);
  }

  const DumpOptions& options_;
  const FeedSpec& spec_;
  const Scan& scan_;
  DrawTables tables_;
  OrderView order_;
  Plan plan_;
  Schedule schedule_;
  std::optional<Drawer> drawer_;
};

void dump(const DumpOptions& options) {
  ChosenFeed chosen = resolve_feed(options.feed);
  FeedSpec& spec = chosen.spec();
  if (options.batch_size) spec.batch_size = *options.batch_size;
  if (options.seed) spec.seed = *options.seed;
  if (!options.remainder.empty()) spec.remainder = from_word<Remainder>(options.remainder).value();
  if (options.rank && *options.rank >= options.world) {
    throw Error(ErrorKind::kUsage, "--rank " + std::to_string(*options.rank) + " is none of the ranks 0 to " +
                                       std::to_string(options.world - 1) + " of --world " +
                                       std::to_string(options.world));
  }
  options.episodes.apply(spec, options.batch_size.has_value());
  const Scan scan = scan_feed(chosen);
  if (spec.episodes) return dump_episodes(options, spec, scan);
  Dump(options, spec, scan).write();
}

}  // namespace

void add_dump(CLI::App& app, Exit&) {
  auto options = std::make_shared<DumpOptions>();
  CLI::App* command = app.add_subcommand("dump", "Lists which sample, or episode, goes to which rank at which step.");
  command->footer(
      "  feedring dump photos/ --batch-size 8 --world 2 --steps 0:1      the first step of two ranks\n"
      "  feedring dump -c feed.toml --feed val --epoch 3 --json          a whole epoch, a line a sample\n"
      "  feedring dump photos/ --rank 0 --steps 0:1 --plan --json        with crops, flips, …\n"
      "  feedring dump photos/ --ways 5 --shots 1 --queries 15 --episodes 600 --json     few-shot episodes");
  add_feed_options(*command, options->feed);
  add_episode_options(*command, options->episodes);
  command->add_option("--batch-size", options->batch_size, "Per rank (default: the feed's)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  command->add_option("--seed", options->seed, "Default: the feed's")->type_name("S");
  command->add_option("--world", options->world, "Ranks of all nodes (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20).description(""));
  command->add_option("--rank", options->rank, "This rank only")->type_name("R");
  command->add_option("--epoch", options->epoch, "Default: 0")->type_name("E");
  command->add_option("--steps", options->steps, "Steps A up to, without, B (default: all)")->type_name("A:B");
  command->add_option("--remainder", options->remainder, "drop, pad or exact (default: the feed's)")
      ->type_name("P")
      ->check(CLI::IsMember(words_of<Remainder>()).description(""));
  command->add_flag("--json", options->json, "One JSON object a line");
  command->add_flag("--plan", options->plan,
                    "Add the random choices of each sample's transform (reads the files' headers)");
  command->callback([options] { dump(*options); });
}

}  // namespace feedring::cli
