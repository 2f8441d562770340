// SPDX-License-Identifier: Apache-2.0
// `feedring decode`: one image as training sees it, as a binary PPM (netpbm's P6).
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <feedring/error.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "producers/cli/commands.hpp"
#include "producers/cli/numbers.hpp"
#include "producers/cli/output.hpp"
#include "producers/cli/read_image.hpp"
#include "producers/config/feed_spec.hpp"
#include "producers/config/suggest.hpp"
#include "producers/decode/decoder.hpp"
#include "producers/transform/choices.hpp"
#include "producers/transform/resample.hpp"

namespace feedring::cli {
namespace {

struct Options {
  std::string file;
  std::string size;
  std::string box;
  std::string filter = "bilinear";
  std::string output;
  std::string background;
  bool exif_orientation = false;
  bool accept_damaged = false;
};

[[noreturn]] void fail(ErrorKind kind, const std::string& sentence) { throw Error(kind, sentence); }

std::string text_of(Size size) { return std::to_string(size.width) + 'x' + std::to_string(size.height); }

Filter parse_filter(const std::string& word) {
  const std::optional<Filter> filter = filter_of(word);
  if (filter) return *filter;
  std::vector<std::string_view> words;
  for (const Filter each :
       {Filter::kNearest, Filter::kBox, Filter::kBilinear, Filter::kHamming, Filter::kBicubic, Filter::kLanczos}) {
    words.push_back(name_of(each));
  }
  fail(ErrorKind::kUsage, "--filter is \"" + word + "\", expected " + any_of_words(words));
}

/// The part of the image that is wanted: all of it without --box.
Box parse_box(const std::string& text, Size image) {
  if (text.empty()) return {0, 0, image.width, image.height};
  const auto numbers = numbers_of(text, ',');
  if (!numbers || numbers->size() != 4) {
    fail(ErrorKind::kUsage, "--box is \"" + text + "\", expected X,Y,W,H in pixels, such as 8,8,64,48");
  }
  const Box box{(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]};
  const bool inside =
      box.width > 0 && box.height > 0 && box.x <= image.width - box.width && box.y <= image.height - box.height;
  if (!inside)
    fail(ErrorKind::kUsage, "--box " + text + " is empty or reaches outside of the image, which has " + text_of(image));
  return box;
}

/// The size of the result: that of `source` without --size; WxH as it is; for N what Resize(N) makes of the source.
Size parse_size(const std::string& text, Size source) {
  if (text.empty()) return source;
  const auto numbers = numbers_of(text, 'x');
  if (!numbers || numbers->size() > 2 || (*numbers)[0] == 0 || numbers->back() == 0) {
    fail(ErrorKind::kUsage,
         "--size is \"" + text + "\", expected N for the shorter side or WxH, such as 256 or 320x240");
  }
  ResizedSize size{(*numbers)[0], numbers->back()};
  if (numbers->size() == 1) {
    Resize shorter_side;
    shorter_side.shorter = (*numbers)[0];
    size = resized(shorter_side, source);
  }
  if (static_cast<double>(size.width) * static_cast<double>(size.height) > static_cast<double>(FeedSpec{}.max_pixels)) {
    fail(ErrorKind::kUsage,
         "--size " + text + " asks for more than " + std::to_string(FeedSpec{}.max_pixels) + " pixels");
  }
  return {static_cast<std::int32_t>(size.width), static_cast<std::int32_t>(size.height)};
}

std::optional<Rgb> parse_colour(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto numbers = numbers_of(text, ',');
  if (!numbers || numbers->size() != 3 ||
      std::any_of(numbers->begin(), numbers->end(), [](auto n) { return n > 255; })) {
    fail(ErrorKind::kUsage, "--background is \"" + text + "\", expected R,G,B from 0 to 255, such as 255,255,255");
  }
  const auto part = [&](std::size_t i) { return static_cast<std::uint8_t>((*numbers)[i]); };
  return Rgb{part(0), part(1), part(2)};
}

std::string to_ppm(const RgbView& pixels, Size target, Filter filter) {
  std::string ppm = "P6\n" + std::to_string(target.width) + ' ' + std::to_string(target.height) + "\n255\n";
  const std::size_t header = ppm.size();
  const std::size_t row = std::size_t{3} * static_cast<std::size_t>(target.width);
  ppm.resize(header + row * static_cast<std::size_t>(target.height));
  auto* out = reinterpret_cast<std::uint8_t*>(ppm.data() + header);
  if (target == pixels.size) {
    for (std::int32_t y = 0; y < target.height; ++y) {
      std::memcpy(out + row * static_cast<std::size_t>(y), pixels.data + pixels.stride * static_cast<std::size_t>(y),
                  row);
    }
    return ppm;
  }
  const Box all{0, 0, pixels.size.width, pixels.size.height};
  Resampler().run(pixels, all, pixels.size, target, {0, 0, target.width, target.height}, filter, false, out, row);
  return ppm;
}

void write_file(const std::string& file, const std::string& bytes) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) fail(ErrorKind::kUsage, "cannot write " + file + ": " + std::strerror(errno != 0 ? errno : EIO));
}

void decode(const Options& options) {
  const Filter filter = parse_filter(options.filter);
  const DecodeOptions how{options.accept_damaged, options.exif_orientation, parse_colour(options.background)};
  if (options.output == "-" && isatty(STDOUT_FILENO) == 1) {
    fail(ErrorKind::kUsage, "pixels are not written to a terminal: give -o a file, or send the output elsewhere");
  }
  FileBytes file;
  Decoder decoder;
  ImageInfo info;
  RgbView pixels;
  Fault fault = file.read(options.file);
  if (!fault) fault = decoder.probe(file.bytes(), FeedSpec{}.max_pixels, info, how);
  if (fault) fail(ErrorKind::kData, options.file + ": " + *fault);
  const Box box = parse_box(options.box, info.size);
  const Size target = parse_size(options.size, {box.width, box.height});
  fault = decoder.decode(file.bytes(), info, box, pixels);
  if (fault) fail(ErrorKind::kData, options.file + ": " + *fault);
  const std::string ppm = to_ppm(pixels, target, filter);
  if (options.output == "-") {
    write_bytes(ppm);
  } else {
    write_file(options.output, ppm);
  }
}

}  // namespace

void add_decode(CLI::App& app, Exit&) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("decode", "Writes one image's pixels, as a feed would deliver them.");
  command->footer(
      "  feedring decode a.jpg -o a.ppm                          the whole image\n"
      "  feedring decode a.jpg --size 256 -o -                   shorter side 256, to standard output\n"
      "  feedring decode a.jpg --box 8,8,64,48 --size 224x224 -o crop.ppm");
  command->add_option("FILE", options->file, "An image")->required();
  command->add_option("--size", options->size, "Resize to a shorter side of N, or to WxH (after --box)")
      ->type_name("N|WxH");
  command->add_option("--box", options->box, "Take this part of the image only")->type_name("X,Y,W,H");
  command
      ->add_option("--filter", options->filter,
                   "nearest, box, bilinear, hamming, bicubic or lanczos (default: bilinear)")
      ->type_name("NAME");
  command->add_option("--background", options->background, "Blend what is transparent over this colour")
      ->type_name("R,G,B");
  command->add_flag("--exif-orientation", options->exif_orientation, "Turn the picture as its EXIF data say");
  command->add_flag("--accept-damaged", options->accept_damaged, "Write what a damaged file still gives");
  command->add_option("-o,--output", options->output, "Binary PPM to write; - for standard output")
      ->required()
      ->type_name("OUT");
  command->callback([options] { decode(*options); });
}

}  // namespace feedring::cli
