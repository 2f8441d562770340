// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/mask.hpp"

#include <algorithm>
#include <variant>

#include "producers/transform/choose_steps.hpp"

namespace feedring {
namespace {

bool is_gray(const Colour& fill) { return fill[0] == fill[1] && fill[1] == fill[2]; }

// The geometry of `picture`'s choices.
void choose_for_mask(const Choices& picture, Choices& mask) {
  mask.clear();
  for (Choice choice : picture) {
    if (choice.kind == Choice::Kind::kOperation || choice.kind == Choice::Kind::kErase) continue;
    choice.filter = Filter::kNearest;
    choice.warp.filter = Filter::kNearest;
    mask.push_back(choice);
  }
}

struct Unfit {
  std::string why;

  void augment(const char* name) { why = std::string(name) + " changes pixels in ways that masks have no part in"; }
  void fill(const char* name, const Colour& colour) {
    if (!is_gray(colour)) why = std::string(name) + " fills with a colour, and a mask has one number a pixel: give one";
  }
  void operator()(const RandAugment&) { augment("RandAugment"); }
  void operator()(const TrivialAugmentWide&) { augment("TrivialAugmentWide"); }
  void operator()(const AutoAugment&) { augment("AutoAugment"); }
  void operator()(const Pad& step) { fill("Pad", step.fill); }
  void operator()(const RandomCrop& step) { fill("RandomCrop", step.fill); }
  void operator()(const RandomRotation& step) { fill("RandomRotation", step.fill); }
  void operator()(const RandomAffine& step) { fill("RandomAffine", step.fill); }
  void operator()(const RandomApply& apply) {
    for (const ChainedStep& each : apply.steps) std::visit(*this, each.step);
  }
  template <class Other>
  void operator()(const Other& /*step*/) {}
};

}  // namespace

std::string unfit_for_masks(const Chain& chain) {
  Unfit unfit;
  for (const Step& step : chain.steps()) std::visit(unfit, step);
  return unfit.why;
}

Fault MaskMaker::run(std::span<const std::uint8_t> file, Decoder& decoder, const Drawn& picture,
                     std::uint64_t max_pixels, std::span<std::uint8_t> out) {
  ImageInfo info;
  if (Fault fault = decoder.probe(file, max_pixels, info)) return fault;
  info.indices = true;
  if (info.size != picture.size)
    return "it has " + text_of(info.size) + " pixels, and its picture " + text_of(picture.size);
  choose_for_mask(picture.choices, drawn_.choices);
  drawn_.geometry.start(info.size);
  drawn_.geometry.apply(drawn_.choices);
  if (Fault fault = drawn_.geometry.finish(max_pixels)) return fault;
  RgbView needed;
  if (Fault fault = decoder.decode(file, info, drawn_.need(), needed)) return fault;
  // By the code of pictures, as grays.
  pixels_.resize(std::max(pixels_.size(), 3 * out.size() + kSlack));
  const Size size = drawn_.geometry.size();
  renderer_.render(needed, drawn_.geometry, pixels_.data(), static_cast<std::size_t>(size.width) * 3);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = pixels_[3 * i];
  return std::nullopt;
}

}  // namespace feedring
