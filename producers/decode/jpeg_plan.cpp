// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/jpeg_plan.hpp"

#include <algorithm>

namespace feedring {
namespace {

// Chroma rows of at most two samples make libjpeg switch to plain replication, and jpeg_crop_scanline shortens them
// together with the crop. Eight columns are more than two samples of every component that is filtered (factor 2).
constexpr JDIMENSION kNarrowest = 8;

/// Whether some component has fewer samples than pixels. Where it is doubled, the filter reads one sample to each side,
/// which moves a pixel at the edge of the decoded part; the next pixel inwards is untouched.
bool upsamples(const jpeg_decompress_struct& cinfo) {
  if (cinfo.num_components == 1) return false;
  return std::any_of(
      cinfo.comp_info, cinfo.comp_info + cinfo.num_components, [&](const jpeg_component_info& component) {
        return component.h_samp_factor != cinfo.max_h_samp_factor || component.v_samp_factor != cinfo.max_v_samp_factor;
      });
}

/// Whether libjpeg smooths over blocks because a progressive file lacks the last bits of its low coefficients: each
/// block then depends on its neighbours two blocks around, which cropping does not respect. coef_bits holds, for each
/// component, the bits still missing per coefficient (-1: all); libjpeg looks at the first ten.
bool smooths(const jpeg_decompress_struct& cinfo) {
  if (!cinfo.progressive_mode || cinfo.coef_bits == nullptr) return false;
  return std::any_of(cinfo.coef_bits, cinfo.coef_bits + cinfo.num_components, [](const int* bits) {
    return std::any_of(bits, bits + 10, [](int missing) { return missing != 0; });
  });
}

}  // namespace

JpegPlan plan_jpeg(const jpeg_decompress_struct& cinfo, Box box) {
  const auto x = static_cast<JDIMENSION>(box.x);
  const auto y = static_cast<JDIMENSION>(box.y);
  JpegPlan plan;
  plan.width = cinfo.output_width;
  if (smooths(cinfo)) {
    plan.lead = y;
    return plan;
  }
  const JDIMENSION margin = upsamples(cinfo) ? 1 : 0;
  plan.lead = std::min(y, margin);
  plan.skip = y - plan.lead;

  JDIMENSION left = x - std::min(x, margin);
  const JDIMENSION right = std::min(cinfo.output_width, std::max(x + box.width + margin, left + kNarrowest));
  left = std::min(left, right - std::min(right, kNarrowest));
  plan.crops = left > 0 || right < cinfo.output_width;
  if (plan.crops) {
    plan.left = left;
    plan.width = right - left;
  }
  return plan;
}

}  // namespace feedring
