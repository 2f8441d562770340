// SPDX-License-Identifier: Apache-2.0
#include "producers/transform/finish.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <feedring/error.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "producers/transform/half.hpp"
#include "tests/unit/resample_targets.hpp"

namespace feedring {
namespace {

Chain chain_of(const std::string& size, const std::string& rest = "") {
  return Chain::parse(nlohmann::json::parse(R"([{"name": "CenterCrop", "size": )" + size + "}" + rest + "]"));
}

constexpr const char* kScaled = R"(, {"name": "ToDtype", "dtype": "float32", "scale": true})";
constexpr const char* kImageNet =
    R"(, {"name": "Normalize", "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})";

TEST(Finish, ScalesByAMultiplicationWithTheFloatOf255thAsTorchvisionDoes) {
  const Finish finish(chain_of("2", kScaled), Dtype::kFloat32, Layout::kNhwc);
  EXPECT_EQ(finish.value(0, 0), 0.0F);
  EXPECT_EQ(finish.value(1, 255), 1.0F);
  // float(1/255) = 0x1.010102p-8; times 3 it is exactly 0x1.818183p-7, which needs 25 bits: a tie, to the even
  // 0x1.818184p-7. A division by 255 would give 0x1.818182p-7.
  EXPECT_EQ(finish.value(2, 3), 0x1.818184p-7F);
}

TEST(Finish, NormalizesInFloatWithARoundingAfterEachOperation) {
  const Finish finish(chain_of("2", std::string(kScaled) + kImageNet), Dtype::kFloat32, Layout::kNhwc);
  // Printed by torch 2.15 with torchvision 0.29 for pixels 0, 128 and 255 of each channel.
  const float red[] = {-2.1179039478302F, 0.07406462728977203F, 2.248908281326294F};
  const float blue[] = {-1.804444432258606F, 0.4264925718307495F, 2.640000104904175F};
  const std::uint8_t pixels[] = {0, 128, 255};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(finish.value(0, pixels[i]), red[i]);
    EXPECT_EQ(finish.value(2, pixels[i]), blue[i]);
  }
}

TEST(Finish, GivesAChainWithoutToDtypeValuesFromZeroToOneInAFloatSlot) {
  const Chain chain = chain_of("2");
  EXPECT_EQ(Finish(chain, Dtype::kFloat32, Layout::kNchw).value(0, 255), 1.0F);
  EXPECT_TRUE(Finish(chain, Dtype::kUint8, Layout::kNhwc).is_plain());
  EXPECT_FALSE(Finish(chain, Dtype::kUint8, Layout::kNchw).is_plain());
}

TEST(Finish, RefusesASlotOfAnotherTypeThanTheChains) {
  EXPECT_THROW(Finish(chain_of("2", kScaled), Dtype::kFloat16, Layout::kNhwc), Error);
  EXPECT_THROW(Finish(chain_of("2", kScaled), Dtype::kUint8, Layout::kNhwc), Error);
  EXPECT_THROW(Finish(chain_of("2"), Dtype::kInt64, Layout::kNhwc), Error);
}

template <class Element>
Element element_at(const std::vector<std::uint8_t>& bytes, std::size_t offset, std::size_t index) {
  Element element;
  std::memcpy(&element, bytes.data() + offset + index * sizeof(Element), sizeof(Element));
  return element;
}

// The image at `begin` is what `finish` says of each pixel.
void expect_values(const Finish& finish, const std::vector<std::uint8_t>& rgb, Dtype dtype, Layout layout,
                   const std::vector<std::uint8_t>& out, std::size_t begin) {
  const std::size_t pixels = finish.bytes_per_image() / 3 / bytes_of(dtype);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t index = layout == Layout::kNhwc ? i * 3 + c : c * pixels + i;
      const std::uint8_t pixel = rgb[i * 3 + c];
      const float value = finish.value(static_cast<int>(c), pixel);
      if (dtype == Dtype::kUint8) {
        ASSERT_EQ(element_at<std::uint8_t>(out, begin, index), pixel);
      } else if (dtype == Dtype::kFloat32) {
        ASSERT_EQ(element_at<float>(out, begin, index), value);
      } else if (dtype == Dtype::kFloat16) {
        ASSERT_EQ(float_of_float16(element_at<std::uint16_t>(out, begin, index)), value);
      } else {
        ASSERT_EQ(float_of_bfloat16(element_at<std::uint16_t>(out, begin, index)), value);
      }
    }
  }
}

class FinishOn : public test::OnInstructionSet {};
INSTANTIATE_TEST_SUITE_P(Kernels, FinishOn, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         test::name_of_instruction_set);

TEST_P(FinishOn, WritesEveryElementOnceAndNothingElse) {
  std::mt19937 generator(5);
  for (const char* size : {"[1, 1]", "[1, 7]", "[5, 13]", "[8, 8]", "[31, 33]", "[64, 65]", "[16, 64]"}) {
    const Chain chain = chain_of(size);
    const auto pixels =
        static_cast<std::size_t>(chain.output_size().width) * static_cast<std::size_t>(chain.output_size().height);
    std::vector<std::uint8_t> rgb(pixels * 3 + kSlack);
    for (std::uint8_t& value : rgb) value = static_cast<std::uint8_t>(generator());
    for (const Dtype dtype : {Dtype::kUint8, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBfloat16}) {
      for (const Layout layout : {Layout::kNhwc, Layout::kNchw}) {
        const Finish finish(chain, dtype, layout);
        if (finish.is_plain()) continue;
        ASSERT_EQ(finish.bytes_per_image(), pixels * 3 * bytes_of(dtype));
        // On a cache line and beside it.
        for (const std::size_t shift : {0, 4}) {
          constexpr std::size_t kGuards = 64;
          std::vector<std::uint8_t> memory(finish.bytes_per_image() + 3 * kGuards + shift, 0xEE);
          const std::size_t begin = 64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64 + shift + kGuards;
          finish.run(rgb.data(), memory.data() + begin);
          for (std::size_t i = 0; i < memory.size(); ++i) {
            if (i >= begin && i < begin + finish.bytes_per_image()) continue;
            ASSERT_EQ(memory[i], 0xEE);
          }
          expect_values(finish, rgb, dtype, layout, memory, begin);
        }
      }
    }
  }
}

// Vectors must round as the table does, and they do with the means and deviations that people use. That the table has
// PyTorch's results is for the tests above.
TEST_P(FinishOn, ComputesWhatTheTableSays) {
  const std::string to[] = {"", R"(, {"name": "ToDtype", "dtype": "float16"})",
                            R"(, {"name": "ToDtype", "dtype": "bfloat16"})"};
  const Dtype dtypes[] = {Dtype::kFloat32, Dtype::kFloat16, Dtype::kBfloat16};
  std::mt19937 generator(11);
  std::vector<std::uint8_t> rgb(std::size_t{67} * 31 * 3 + kSlack);
  for (std::uint8_t& value : rgb) value = static_cast<std::uint8_t>(generator());
  std::size_t computed = 0;
  std::size_t tried = 0;
  const auto check = [&](const std::string& steps, Dtype dtype) {
    for (const Layout layout : {Layout::kNhwc, Layout::kNchw}) {
      const Finish finish(chain_of("[31, 67]", steps), dtype, layout);
      std::vector<std::uint8_t> out(finish.bytes_per_image());
      finish.run(rgb.data(), out.data());
      ++tried;
      computed += finish.computes() ? 1 : 0;
      for (std::size_t i = 0; i < std::size_t{31} * 67; ++i) {
        for (std::size_t c = 0; c < 3; ++c) {
          const std::size_t index = layout == Layout::kNhwc ? i * 3 + c : c * 31 * 67 + i;
          const float value = finish.value(static_cast<int>(c), rgb[i * 3 + c]);
          if (dtype == Dtype::kFloat32) {
            ASSERT_EQ(std::bit_cast<std::uint32_t>(element_at<float>(out, 0, index)),
                      std::bit_cast<std::uint32_t>(value));
          } else {
            const auto half = element_at<std::uint16_t>(out, 0, index);
            ASSERT_EQ(half, dtype == Dtype::kFloat16 ? float16_of(value) : bfloat16_of(value));
          }
        }
      }
    }
  };
  for (std::size_t i = 0; i < 3; ++i) check(std::string(kScaled) + kImageNet + to[i], dtypes[i]);
  for (const char* half : {"float16", "bfloat16"}) {
    check(R"(, {"name": "ToDtype", "dtype": ")" + std::string(half) + R"(", "scale": true})" + kImageNet,
          half == std::string("float16") ? Dtype::kFloat16 : Dtype::kBfloat16);
  }
  // Of others that people use: values of these lie so close to the middle between two of 16 bits that a result which is
  // rounded once goes to the other one.
  for (const char* numbers : {R"("mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5])",
                              R"("mean": [0.48145466, 0.4578275, 0.40821073],)"
                              R"("std": [0.26862954, 0.26130258, 0.27577711])",
                              R"("mean": [0.4914, 0.4822, 0.4465], "std": [0.2023, 0.1994, 0.2010])"}) {
    const std::string normalize = R"(, {"name": "Normalize", )" + std::string(numbers) + "}";
    for (std::size_t i = 0; i < 3; ++i) check(std::string(kScaled) + normalize + to[i], dtypes[i]);
  }
  if (GetParam() == HWY_AVX2 || GetParam() == HWY_AVX3) {
    EXPECT_EQ(computed, tried) << "the tables did it";
  }
  // Two Normalizes are no formula; a deviation without an inverse, and numbers that overflow, are for the tables.
  check(std::string(kScaled) + kImageNet + kImageNet, Dtype::kFloat32);
  for (int i = 0; i < 100; ++i) {
    std::uniform_real_distribution<double> of(-1, 1);
    const nlohmann::json steps = {{"name", "Normalize"},
                                  {"mean", {of(generator), 0.0, of(generator) * 1e-3}},
                                  {"std", {of(generator), 1e-39, of(generator) * 1e3}}};
    check(std::string(kScaled) + ", " + steps.dump() + to[static_cast<std::size_t>(i) % 3],
          dtypes[static_cast<std::size_t>(i) % 3]);
  }
}

// Every finite neighbouring pair of a 16 bit format: values between them go to the nearer, the middle to the even one.
template <auto kTo, auto kFrom>
void check_rounding(std::uint16_t largest) {
  for (std::uint32_t bits = 0; bits < largest; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    const float middle = static_cast<float>((static_cast<double>(kFrom(low)) + kFrom(high)) / 2);
    const std::uint16_t even = bits % 2 == 0 ? low : high;
    for (const std::uint16_t sign : {std::uint16_t{0}, std::uint16_t{0x8000}}) {
      const float s = sign == 0 ? 1.0F : -1.0F;
      ASSERT_EQ(kTo(s * kFrom(low)), sign | low);
      ASSERT_EQ(kTo(s * middle), sign | even) << bits;
      ASSERT_EQ(kTo(s * std::nextafter(middle, 0.0F)), sign | low) << bits;
      ASSERT_EQ(kTo(s * std::nextafter(middle, std::numeric_limits<float>::infinity())), sign | high) << bits;
    }
  }
}

TEST(Half, RoundsEveryFloat16ToNearestEven) {
  EXPECT_EQ(float_of_float16(0x3C00), 1.0F);
  EXPECT_EQ(float_of_float16(0x0001), 0x1p-24F);
  EXPECT_EQ(float_of_float16(0x7BFF), 65504.0F);
  check_rounding<float16_of, float_of_float16>(0x7BFF);
  EXPECT_EQ(float16_of(std::nextafter(65520.0F, 0.0F)), 0x7BFF);
  EXPECT_EQ(float16_of(65520.0F), 0x7C00);
  EXPECT_EQ(float16_of(-1e30F), 0xFC00);
  EXPECT_TRUE(std::isnan(float_of_float16(float16_of(std::nanf("")))));
}

TEST(Half, RoundsEveryBfloat16ToNearestEven) {
  EXPECT_EQ(float_of_bfloat16(0x3F80), 1.0F);
  check_rounding<bfloat16_of, float_of_bfloat16>(0x7F7F);
  EXPECT_EQ(bfloat16_of(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(float_of_bfloat16(bfloat16_of(std::bit_cast<float>(0x7F800001U)))));
}

}  // namespace
}  // namespace feedring
