// SPDX-License-Identifier: Apache-2.0
// Laying out a ring, against numbers worked out by hand; and reading the header of one that a peer wrote, which may
// hold anything.
#include "runtime/ring_segment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <feedring/error.hpp>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/ring_memory.hpp"

namespace feedring {
namespace {

using contract::RingShape;
using contract::TensorEntry;
using test::RingMemory;
using testing::HasSubstr;

RingShape small_shape() { return lay_out_ring(2, 2, 3, image_feed_tensors(5, 7, Dtype::kUint8, Layout::kNhwc)); }

TEST(LayOutRing, PutsEachPartWhereTheArithmeticSays) {
  const RingShape shape = small_shape();
  EXPECT_EQ(shape.slots_offset, 4096U);
  EXPECT_EQ(shape.tasks_offset, 4096U + 2 * 128U) << "2 slots of two lines each";
  EXPECT_EQ(shape.failures_offset, 4352U + 4 * 64U) << "a line for each task of each slot";
  EXPECT_EQ(shape.payload_offset, 8192U) << "4608 + 4 * 512, rounded up to a page";
  ASSERT_EQ(shape.tensors, 5U);
  const std::uint64_t row_bytes[] = {105, 8, 8, 1, 1};
  const std::uint64_t offsets[] = {0, 320, 384, 448, 512};  // 3 * 105 = 315 and 3 * 8 = 24, rounded up to 64
  for (std::size_t t = 0; t < 5; ++t) {
    EXPECT_EQ(shape.tensor[t].row_bytes, row_bytes[t]);
    EXPECT_EQ(shape.tensor[t].offset, offsets[t]);
  }
  EXPECT_EQ(shape.payload_stride, 4096U);
  EXPECT_EQ(shape.bytes, 8192U + 2 * 4096U);
}

TEST(LayOutRing, DescribesImagesAsChannelsFirstOverTheMemoryAskedFor) {
  const RingShape interleaved = small_shape();
  const RingShape planar = lay_out_ring(1, 1, 3, image_feed_tensors(5, 7, Dtype::kFloat32, Layout::kNchw));
  const auto numbers = [](const auto& array) { return std::vector<std::uint64_t>(array, array + 4); };
  EXPECT_EQ(numbers(interleaved.tensor[0].shape), (std::vector<std::uint64_t>{3, 3, 5, 7}));
  EXPECT_EQ(numbers(interleaved.tensor[0].strides), (std::vector<std::uint64_t>{105, 1, 21, 3}));
  EXPECT_EQ(numbers(planar.tensor[0].shape), (std::vector<std::uint64_t>{3, 3, 5, 7}));
  EXPECT_EQ(numbers(planar.tensor[0].strides), (std::vector<std::uint64_t>{105, 35, 7, 1}));
  EXPECT_EQ(planar.tensor[0].row_bytes, 420U);
}

TEST(LayOutRing, RefusesWhatTheContractCannotHold) {
  const std::vector<TensorSpec> none, one = {{"x", Dtype::kUint8, {2}, {}}};
  const auto refused = [](std::uint32_t slots, std::uint32_t tasks, std::uint32_t rows,
                          const std::vector<TensorSpec>& tensors) {
    try {
      (void)lay_out_ring(slots, tasks, rows, tensors);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::kUsage;
    }
    return false;
  };
  EXPECT_TRUE(refused(0, 1, 1, none));
  EXPECT_TRUE(refused(1025, 1, 1, none));
  EXPECT_TRUE(refused(1, 0, 1, none));
  EXPECT_TRUE(refused(1, 33, 1, none));
  EXPECT_TRUE(refused(1, 1, 0, none));
  EXPECT_TRUE(refused(1, 1, 1, std::vector<TensorSpec>(17, one[0])));
  EXPECT_TRUE(refused(1, 1, 1, {one[0], one[0]})) << "one name twice";
  EXPECT_TRUE(refused(1, 1, 1, {{"", Dtype::kUint8, {}, {}}}));
  EXPECT_TRUE(refused(1, 1, 1, {{"a_name_of_24_bytes_is_too", Dtype::kUint8, {}, {}}}));
  EXPECT_TRUE(refused(1, 1, 1, {{"x", Dtype::kUint8, {1, 1, 1, 1, 1}, {}}})) << "with the rows that makes 6 dimensions";
  EXPECT_TRUE(refused(1, 1, 1, {{"x", Dtype::kUint8, {2, 0}, {}}}));
  EXPECT_TRUE(refused(1, 1, 1, {{"x", Dtype::kUint8, {2, 3}, {1}}}));
  EXPECT_TRUE(refused(1, 1, 1, {{"x", Dtype::kUint8, {2, 3}, {3, 2}}})) << "the last element would be the 8th of 6";
  EXPECT_TRUE(refused(1, 1, 1, {{"x", Dtype::kUint8, {1ULL << 40, 1ULL << 40}, {}}})) << "2^80 is not 0";
  EXPECT_TRUE(refused(1, 1, 1, {{"x", Dtype::kInt64, {1ULL << 61}, {}}}));
  EXPECT_TRUE(refused(1024, 1, 1, {{"x", Dtype::kUint8, {1ULL << 40}, {}}}));
  EXPECT_TRUE(refused(1, 1, ~0U, {{"x", Dtype::kUint8, {1ULL << 20}, {}}}));
  EXPECT_FALSE(refused(1024, 32, 1, one));
  EXPECT_FALSE(refused(1, 1, 1, {{"a_name_of_23_bytes_fits", Dtype::kUint8, {1, 1, 1, 1}, {}}}));
}

TEST(LayOutRing, CutsTasksFromThePartsOfRows) {
  // As of two episodes of three images, 2 x 2 pixels of 3 channels each: 36 bytes a row, then a status byte an image.
  const RingShape shape = lay_out_ring(
      1, 4, 2, {{"images", Dtype::kUint8, {3, 3, 2, 2}, {12, 1, 6, 3}}, {"status", Dtype::kUint8, {3}, {}}}, 3);
  EXPECT_EQ(shape.parts, 3U);
  EXPECT_EQ(contract::units_of(shape), 6U);
  EXPECT_EQ(shape.tensor[0].dimensions, 5U);
  EXPECT_EQ(shape.tensor[0].row_bytes, 36U);
  EXPECT_EQ(shape.tensor[1].offset, 128U) << "72 bytes of images, on the next line";
  const RingMemory memory(shape);
  EXPECT_EQ(read_ring_shape(memory.bytes()).parts, 3U);
  EXPECT_THROW((void)lay_out_ring(1, 1, 1U << 16, {}, 1U << 16), Error) << "2^32 parts";
}

TEST(ReadRingShape, KnowsEveryElementType) {
  // One row of three elements each: the widths are those of torch.
  constexpr std::array<std::pair<Dtype, std::uint64_t>, 10> kRowBytes{{{Dtype::kUint8, 3},
                                                                       {Dtype::kInt8, 3},
                                                                       {Dtype::kBool, 3},
                                                                       {Dtype::kInt16, 6},
                                                                       {Dtype::kFloat16, 6},
                                                                       {Dtype::kBfloat16, 6},
                                                                       {Dtype::kInt32, 12},
                                                                       {Dtype::kFloat32, 12},
                                                                       {Dtype::kInt64, 24},
                                                                       {Dtype::kFloat64, 24}}};
  for (const auto& [dtype, row_bytes] : kRowBytes) {
    const RingMemory memory(lay_out_ring(1, 1, 1, {{"x", dtype, {3}, {}}}));
    EXPECT_EQ(find_tensor(read_ring_shape(memory.bytes()), "x")->row_bytes, row_bytes) << name_of(dtype);
  }
}

TEST(ReadRingShape, GivesBackWhatWasLaidOut) {
  const RingShape shape = small_shape();
  const RingMemory memory(shape);
  const RingShape read = read_ring_shape(memory.bytes());
  EXPECT_EQ(std::memcmp(&read, &shape, sizeof shape), 0);
  EXPECT_STREQ(find_tensor(read, "sample_ids")->name, "sample_ids");
  EXPECT_EQ(find_tensor(read, "sample_id"), nullptr);
  EXPECT_EQ(find_tensor(read, ""), nullptr);
}

/// What read_ring_shape says about this ring after `damage`.
std::string refusal(const std::function<void(contract::RingHeader<std::atomic>&)>& damage) {
  const RingMemory memory(small_shape());
  damage(memory.ring().header());
  try {
    (void)read_ring_shape(memory.bytes());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kRefused);
    return error.what();
  }
  return "";
}

TEST(ReadRingShape, RefusesEachFieldThatIsNotAsItMustBe) {
  using Header = contract::RingHeader<std::atomic>;
  const std::function<void(Header&)> damages[] = {
      [](Header& h) { h.magic ^= 1; },
      [](Header& h) { h.stamp.store(0); },  // half made
      [](Header& h) { h.stamp.store(contract::fingerprint() + 1); },
      [](Header& h) { h.shape.bytes += 4096; },
      [](Header& h) { h.shape.bytes = 0; },
      [](Header& h) { h.shape.slots = 0; },
      [](Header& h) { h.shape.slots = 3; },
      [](Header& h) { h.shape.slots = ~0U; },
      [](Header& h) { h.shape.tasks = 0; },
      [](Header& h) { h.shape.tasks = 3; },
      [](Header& h) { h.shape.tasks = 33; },
      [](Header& h) { h.shape.rows = 0; },
      [](Header& h) { h.shape.rows = 4; },
      [](Header& h) { h.shape.rows = ~0U; },
      [](Header& h) { h.shape.parts = 0; },
      [](Header& h) { h.shape.parts = ~0U; },
      [](Header& h) { h.shape.tensors = 17; },
      [](Header& h) { h.shape.tensors = ~0U; },
      [](Header& h) { h.shape.slots_offset = 0; },
      [](Header& h) { h.shape.slots_offset += 64; },
      [](Header& h) { h.shape.tasks_offset = h.shape.slots_offset; },
      [](Header& h) { h.shape.tasks_offset = ~0ULL; },
      [](Header& h) { h.shape.failures_offset -= 64; },
      [](Header& h) { h.shape.failures_offset = 0; },
      [](Header& h) { h.shape.payload_offset = 4096; },
      [](Header& h) { h.shape.payload_offset = ~0ULL; },
      [](Header& h) { h.shape.payload_stride = 0; },
      [](Header& h) { h.shape.payload_stride = 8192; },
      [](Header& h) { h.shape.payload_stride = 1ULL << 63; },
      [](Header& h) { h.shape.tensor[0].dtype = 10; },
      [](Header& h) { h.shape.tensor[0].dtype = 2; },
      [](Header& h) { h.shape.tensor[0].dimensions = 0; },
      [](Header& h) { h.shape.tensor[0].dimensions = 3; },
      [](Header& h) { h.shape.tensor[0].dimensions = ~0U; },
      [](Header& h) { h.shape.tensor[0].shape[0] = 4; },
      [](Header& h) { h.shape.tensor[0].shape[1] = 0; },
      [](Header& h) { h.shape.tensor[0].shape[2] = ~0ULL; },
      [](Header& h) { h.shape.tensor[0].shape[3] = 8; },
      [](Header& h) { h.shape.tensor[0].strides[0] = 0; },
      [](Header& h) { h.shape.tensor[0].strides[1] = 2; },
      [](Header& h) { h.shape.tensor[0].strides[2] = 105; },
      [](Header& h) { h.shape.tensor[0].strides[3] = ~0ULL; },
      [](Header& h) { h.shape.tensor[0].offset = 64; },
      [](Header& h) { h.shape.tensor[1].offset = 0; },  // labels over the images
      [](Header& h) { h.shape.tensor[1].offset = 321; },
      [](Header& h) { h.shape.tensor[4].offset = ~0ULL; },
      [](Header& h) { h.shape.tensor[1].row_bytes = 16; },
      [](Header& h) { h.shape.tensor[1].row_bytes = ~0ULL; },
  };
  std::size_t number = 0;
  for (const auto& damage : damages) {
    EXPECT_NE(refusal(damage), "") << "damage " << number;
    ++number;
  }
  EXPECT_EQ(refusal([](Header&) {}), "") << "undamaged";
}

TEST(ReadRingShape, RefusesDimensionsWhoseProductWrapsToWhatFits) {
  // 2^20 * (2^44 + 1) = 2^64 + 2^20, which 64 bits call 2^20.
  const std::uint64_t fits = 1ULL << 20, huge = (1ULL << 44) + 1;
  const RingMemory memory(lay_out_ring(1, 1, 1, {{"x", Dtype::kUint8, {fits, 1}, {}}}));
  TensorEntry& entry = memory.ring().header().shape.tensor[0];
  ASSERT_NO_THROW((void)read_ring_shape(memory.bytes()));
  entry.shape[2] = huge;
  EXPECT_THROW((void)read_ring_shape(memory.bytes()), Error);
}

TEST(ReadRingShape, SaysWhatItWantedAndWhatItFound) {
  const std::string text = refusal([](auto& header) { header.shape.tasks = 33; });
  EXPECT_THAT(text, HasSubstr("number of tasks is 0x21 where this build wants 0x20"));
}

TEST(ReadRingShape, RefusesMemoryThatIsShorterThanTheHeaderOrThanItClaims) {
  const RingMemory memory(small_shape());
  EXPECT_THROW((void)read_ring_shape({}), Error);
  EXPECT_THROW((void)read_ring_shape(memory.bytes().first(4095)), Error);
  EXPECT_THROW((void)read_ring_shape(memory.bytes().first(4096)), Error);
  EXPECT_THROW((void)read_ring_shape(memory.bytes().first(memory.bytes().size() - 1)), Error);
}

TEST(ReadRingShape, EndsANameThatItsWriterDidNotEnd) {
  const RingMemory memory(small_shape());
  std::memset(memory.ring().header().shape.tensor[0].name, 'x', 24);
  EXPECT_EQ(std::strlen(read_ring_shape(memory.bytes()).tensor[0].name), 23U);
}

/// True when all that one may touch by following `shape` lies in `bytes`.
bool stays_inside(const RingShape& shape, std::uint64_t bytes) {
  using Wide = unsigned __int128;
  const Wide payload_end = Wide{shape.payload_offset} + Wide{shape.slots} * shape.payload_stride;
  const Wide tasks = Wide{shape.slots} * shape.tasks;
  if (Wide{shape.slots_offset} + Wide{shape.slots} * 128 > shape.tasks_offset) return false;
  if (Wide{shape.tasks_offset} + tasks * 64 > shape.failures_offset) return false;
  if (Wide{shape.failures_offset} + tasks * 512 > shape.payload_offset) return false;
  if (payload_end > bytes || shape.tensors > contract::kMaxTensors) return false;
  for (std::uint32_t t = 0; t < shape.tensors; ++t) {
    const TensorEntry& entry = shape.tensor[t];
    Wide last = 0;
    for (std::uint32_t d = 0; d < entry.dimensions; ++d) last += Wide{entry.shape[d] - 1} * entry.strides[d];
    const Wide view = (last + 1) * bytes_of(static_cast<Dtype>(entry.dtype));
    const Wide bytes_of_tensor = Wide{entry.row_bytes} * shape.rows;
    if (entry.shape[0] < shape.rows || view > bytes_of_tensor) return false;
    if (entry.offset % contract::kLine != 0 || entry.offset + bytes_of_tensor > shape.payload_stride) return false;
  }
  return true;
}

TEST(ReadRingShape, NeverLeadsOutsideWhateverIsWrittenIntoTheHeader) {
  std::mt19937_64 random(20240229);
  const auto below = [&](std::uint64_t end) { return random() % end; };
  const RingShape shape = small_shape();
  const RingMemory memory(shape);
  auto& header = memory.ring().header();
  auto* words = reinterpret_cast<std::uint32_t*>(&header.shape);
  const std::uint64_t count = sizeof shape / sizeof *words;
  std::uint32_t accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::memcpy(static_cast<void*>(&header.shape), &shape, sizeof shape);
    for (std::uint64_t change = below(4) + 1; change > 0; --change) {
      const std::uint64_t at = below(4) != 0 ? below(64) : below(count);  // mostly in what is in use
      switch (below(4)) {
        case 0: words[at] = static_cast<std::uint32_t>(random()); break;
        case 1: words[at] = static_cast<std::uint32_t>(below(65)); break;
        case 2: words[at] = words[below(count)]; break;
        default: words[at] ^= 1U << below(32);
      }
    }
    try {
      const RingShape read = read_ring_shape(memory.bytes());
      ++accepted;
      ASSERT_TRUE(stays_inside(read, memory.bytes().size())) << "round " << round;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::kRefused);
    }
  }
  EXPECT_GT(accepted, 100U) << "some damage is harmless (names, unused entries), or the test would show nothing";
}

}  // namespace
}  // namespace feedring
