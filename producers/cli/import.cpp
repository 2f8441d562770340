// SPDX-License-Identifier: Apache-2.0
// `feedring import`: makes a pack of any data that a feed can read.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <feedring/error.hpp>
#include <memory>
#include <string>

#include "producers/cli/commands.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/scan_source.hpp"
#include "producers/pack/pack.hpp"
#include "producers/pack/pickled.hpp"
#include "producers/pool/sample_order.hpp"
#include "runtime/memory_limits.hpp"

namespace feedring::cli {
namespace {

struct Options {
  FeedChoice choice;
  std::string target;
  bool json = false;
};

std::unique_ptr<pack::Source> open_source(const Options& options) {
  FeedSpec spec;
  apply_data_options(options.choice, spec);
  if (pack::is_pickle(options.choice.data)) {
    if (!spec.split.empty() || !spec.classes.empty()) {
      throw Error(ErrorKind::kUsage, options.choice.data + " is a pickle, which is packed whole: leave --split and " +
                                         "--classes out, and choose from the pack");
    }
    return pack::open_pickle(options.choice.data);
  }
  spec.data = options.choice.data;
  Scan scan = scan_samples(spec);
  for (const std::string& warning : scan.warnings) spdlog::warn("{}", warning);
  return std::make_unique<ScanSource>(std::move(scan));
}

void import_data(const Options& options) {
  const std::unique_ptr<pack::Source> opened = open_source(options);
  pack::Source& source = *opened;
  Progress progress;
  const pack::Report report = pack::write_pack(source, options.target, [&](std::uint64_t done) {
    if (done % 256 == 0) progress.show(fmt::format("packed {} of {} samples", done, source.items()));
  });
  progress.clear();
  if (options.json) {
    write_json({{"samples", report.samples},
                {"classes", report.classes},
                {"bytes", report.bytes},
                {"dataset_digest", report.dataset_digest}});
  } else {
    write_line(fmt::format("{}: {} samples in {} classes, {}; data set {}", printable(options.target), report.samples,
                           report.classes, human_bytes(report.bytes), report.dataset_digest));
  }
}

}  // namespace

void add_import(CLI::App& app, Exit&) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("import", "Makes a pack: one tar with all images, class after class.");
  command->footer(
      "  feedring import photos/ photos.tar                                   then: data = \"photos.tar\"\n"
      "  feedring import miniimagenet/ train.tar --split train                a list and the images that it names\n"
      "  feedring import images_background.zip omniglot.tar --class-depth 2");
  command->add_option("SRC", options->choice.data, "Data of any kind that a feed reads")->required();
  command->add_option("DST", options->target, "The pack to write; it may not be there yet")->required();
  add_data_options(*command, options->choice);
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options] { import_data(*options); });
}

}  // namespace feedring::cli
