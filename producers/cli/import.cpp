// SPDX-License-Identifier: Apache-2.0
// `feedring import`: makes a pack of any data that a feed can read.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <feedring/error.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "producers/cli/commands.hpp"
#include "producers/cli/feed_choice.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/programs.hpp"
#include "producers/cli/scan_source.hpp"
#include "producers/pack/import.hpp"
#include "producers/pack/pack.hpp"
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
  if (options.target.empty())
    throw Error(ErrorKind::kUsage, "the pack to write has no name: give one that ends in .tar");
  FeedSpec spec;
  apply_data_options(options.choice, spec);
  const pack::Import wanted{
      .data = options.choice.data,
      .beside = std::filesystem::absolute(options.target).parent_path(),
      .hdf5 = libexec_path("feedring-hdf5"),
      .split = spec.split,
      .has_classes = !spec.classes.empty(),
      .has_files = options.choice.class_depth || !options.choice.files.empty() || options.choice.limit};
  if (auto source = pack::open_import(wanted)) return source;
  spec.data = options.choice.data;
  Scan scan = scan_samples(spec);
  for (const std::string& warning : scan.warnings) spdlog::warn("{}", warning);
  return std::make_unique<ScanSource>(std::move(scan));
}

void import_data(const Options& options) {
  ::signal(SIGXFSZ, SIG_IGN);  // the limit of a file's size is an error of the write, told with its name
  const std::unique_ptr<pack::Source> opened = open_source(options);
  pack::Source& source = *opened;
  Progress progress;
  const pack::Report report = pack::write_pack(source, options.target, [&](std::uint64_t done) {
    if (done % 256 == 0) progress.show(fmt::format("packed {} of {} samples", done, source.items()));
  });
  progress.clear();
  if (options.json) {
    write_json({{"samples", report.samples},
                {"resumed", report.resumed},
                {"classes", report.classes},
                {"bytes", report.bytes},
                {"dataset_digest", report.dataset_digest}});
  } else {
    const std::string there = report.resumed == 0 ? "" : fmt::format(" ({} of an interrupted import)", report.resumed);
    write_line(fmt::format("{}: {} samples{} in {} classes, {}; data set {}", printable(options.target), report.samples,
                           there, report.classes, human_bytes(report.bytes), report.dataset_digest));
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
  command
      ->add_option(
          "SRC", options->choice.data,
          "Data of any kind that a feed reads, or a pickle, .npz, .hdf5 or folder of records of a few-shot data set")
      ->required();
  command->add_option("DST", options->target, "The pack to write; it may not be there yet")->required();
  add_data_options(*command, options->choice);
  command->add_flag("--json", options->json, "One JSON object");
  command->callback([options] { import_data(*options); });
}

}  // namespace feedring::cli
