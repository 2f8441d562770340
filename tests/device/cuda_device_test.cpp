// SPDX-License-Identifier: Apache-2.0
// The CUDA device: on a GPU where there is one, and its calls on a stand-in for the runtime everywhere.
#include <gmock/gmock.h>

#include <array>
#include <feedring/cuda.hpp>
#include <feedring/error.hpp>
#include <ostream>
#include <thread>

#include "tests/device/device_conformance.hpp"
#include "tests/device/fake_cudart.hpp"
#include "tests/support/child.hpp"

namespace feedring {
namespace {

using std::chrono::milliseconds;
using test::FakeCudart;
using Settings = FakeCudart::Settings;
using test::kLong;
using test::Pages;
using testing::HasSubstr;

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::kForked, "nothing was thrown"};
}
void copy(Device& on, std::byte* to, const std::byte* from, std::size_t bytes) {
  const CopyPiece piece{to, from, bytes};
  on.copy({&piece, 1});
}
// Everything that was asked of CUDA has been given back, and nothing was asked wrongly.
void expect_clean() {
  for (const char* what : {"registered now", "streams now", "events now", "memory now", "violations"})
    EXPECT_TRUE(test::soon([what] { return FakeCudart::count(what) == 0; })) << what << FakeCudart::count(what);
  EXPECT_EQ(FakeCudart::last_error(), 0);
}

TEST(Cuda, SaysByCudasOwnNameWhyThereIsNone) {
  const FakeCudart fake(Settings{{"DEVICES", "-1"}});
  const Error error = error_of([] { (void)cuda("cuda:0", FakeCudart::options()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("cudaErrorInsufficientDriver"));
  EXPECT_THAT(error.what(), HasSubstr(FakeCudart::path()));
  EXPECT_EQ(why_no_cuda(FakeCudart::options()), error.what());
  EXPECT_EQ(FakeCudart::last_error(), 0) << "the program's own next call is not blamed";
}

TEST(Cuda, NamesADeviceThatIsNotThere) {
  const FakeCudart fake(Settings{{"DEVICES", "2"}});
  for (const char* odd : {"", "cpu", "cuda0", "cuda:", "cuda:x", "cuda:-1", "cuda:1 "}) {
    EXPECT_EQ(error_of([&] { (void)cuda(odd, FakeCudart::options()); }).kind(), ErrorKind::kUsage) << odd;
  }
  EXPECT_THAT(error_of([] { (void)cuda("cuda:2", FakeCudart::options()); }).what(), HasSubstr("sees 2 CUDA devices"));
  EXPECT_EQ(cuda("cuda:1", FakeCudart::options())->tag(), (DeviceTag{DeviceType::kCuda, 1}));
}

TEST(Cuda, NamesALibraryThatIsNone) {
  const Error error = error_of([] { (void)cuda("cuda", {.runtime = "/nowhere/libcudart.so"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("/nowhere/libcudart.so"));
  const Error other = error_of([] { (void)cuda("cuda", {.runtime = "libm.so.6"}); });
  EXPECT_THAT(other.what(), HasSubstr("has no cudaGetErrorName"));
}

TEST(Cuda, RefusesAStreamThatRecordsAGraphAndDisturbsNothing) {
  const FakeCudart fake;
  const auto capture = FakeCudart::call<void(void*, int)>("fake_cudart_capture");
  const auto device = cuda("cuda:0", FakeCudart::options());
  const auto program = cuda("cuda:0", FakeCudart::options());
  const StreamHandle stream = program->own_stream();
  const auto mark = device->mark(stream);
  for (const StreamHandle asked : {stream, StreamHandle{nullptr}}) {
    capture(stream, asked == nullptr ? 1 : 0);
    for (const auto& call : {std::function<void()>([&] { (void)device->mark(asked); }),
                             std::function<void()>([&] { device->order(asked, *mark, kLong); })}) {
      const Error error = error_of(call);
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("is recording a CUDA graph"));
    }
    EXPECT_TRUE(device->record()->wait(kLong)) << "our own work goes on meanwhile";
    capture(nullptr, 0);
    EXPECT_EQ(device->failure(), "");
    device->order(asked, *device->mark(asked), kLong);
  }
  EXPECT_EQ(FakeCudart::count("violations"), 0);
  EXPECT_EQ(FakeCudart::last_error(), 0);
}

// In a child, since it could not be undone.
TEST(Cuda, TakesTheRuntimeThatTheProgramHasLoaded) {
  test::Child child([] {
    void* library = ::dlopen(FEEDRING_FAKE_CUDART_BY_NAME, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return 100;
    const auto count = reinterpret_cast<long (*)(const char*)>(::dlsym(library, "fake_cudart_count"));
    if (count("streams now") != 0) return 101;
    const std::shared_ptr<Device> device = cuda("cuda:0");
    return count("streams now") == 2 ? 0 : 102;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(Cuda, GivesEverythingBackAndLeavesNoError) {
  const FakeCudart fake;
  {
    const auto device = cuda("cuda:0", FakeCudart::options());
    const Pages from(8192);
    device->register_memory(from.data(), from.size());
    const auto there = device->allocate(8192);
    for (int i = 0; i < 10; ++i) {
      copy(*device, there.get(), from.data(), 8192);
      device->order(nullptr, *device->record(), kLong);
      device->order(device->own_stream(), *device->mark(nullptr), kLong);
    }
    ASSERT_TRUE(device->record()->wait(kLong));
    device->unregister_memory(from.data());
    EXPECT_LE(FakeCudart::count("events now"), 12) << "events are used again";
  }
  expect_clean();
}

TEST(Cuda, UsesNoDeviceButItsOwnWhoeverCalls) {
  const FakeCudart fake(Settings{{"DEVICES", "2"}});
  {
    auto device = cuda("cuda:1", FakeCudart::options());  // this thread's current device is 0
    const Pages from(4096);
    device->register_memory(from.data(), from.size());
    auto there = device->allocate(4096);
    copy(*device, there.get(), from.data(), 4096);
    auto event = device->record();
    device->order(nullptr, *event, kLong);
    ASSERT_TRUE(event->wait(kLong));
    event.reset();
    std::jthread([&] { there.reset(); }).join();
    device->unregister_memory(from.data());
    (void)device->mark(nullptr);
    device->record()->then([kept = device] {});
    device.reset();
    EXPECT_TRUE(test::soon([] { return FakeCudart::count("streams now") == 0; }));
  }
  EXPECT_EQ(FakeCudart::count("contexts"), 0b10);
  expect_clean();
}

TEST(Cuda, RefusedRegistrationLeavesNoErrorAndCopiesAreStaged) {
  const FakeCudart fake(Settings{{"REFUSE", "4096"}});
  const auto device = cuda("cuda:0", FakeCudart::options());
  const Pages from(8192);
  const Error error = error_of([&] { device->register_memory(from.data(), from.size()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("cuda:0: cudaHostRegister: cudaErrorMemoryAllocation"));
  EXPECT_EQ(FakeCudart::last_error(), 0);
  EXPECT_EQ(device->failure(), "");
  from.fill(1);
  const auto there = device->allocate(8192);
  copy(*device, there.get(), from.data(), from.size());
  from.fill(2);
  EXPECT_EQ(FakeCudart::count("staged"), 1);
  std::vector<std::byte> here(8192);
  copy(*device, here.data(), there.get(), 8192);
  EXPECT_EQ(Pages::wrong(here.data(), 8192, 1), 8192U);
}

TEST(Cuda, MemoryThatAnotherLibraryRegisteredIsARefusalToo) {
  const FakeCudart fake;
  const auto device = cuda("cuda:0", FakeCudart::options());
  const auto other = cuda("cuda:0", FakeCudart::options());
  const Pages from(4096);
  other->register_memory(from.data(), from.size());
  const Error error = error_of([&] { device->register_memory(from.data(), from.size()); });
  EXPECT_EQ(error.kind(), ErrorKind::kRefused);
  EXPECT_THAT(error.what(), HasSubstr("cudaErrorHostMemoryAlreadyRegistered"));
  device->unregister_memory(from.data());  // it is not ours
  EXPECT_EQ(FakeCudart::count("registered now"), 1);
  other->unregister_memory(from.data());
  EXPECT_EQ(FakeCudart::last_error(), 0);
}

TEST(Cuda, FullMemoryIsNoFailureOfTheDevice) {
  const FakeCudart fake(Settings{{"ROOM", "10000"}});
  const auto device = cuda("cuda:0", FakeCudart::options());
  auto first = device->allocate(8192);
  const Error error = error_of([&] { (void)device->allocate(8192); });
  EXPECT_EQ(error.kind(), ErrorKind::kMemory);
  EXPECT_THAT(error.what(), HasSubstr("cudaMalloc of 8192 bytes: cudaErrorMemoryAllocation"));
  EXPECT_EQ(FakeCudart::last_error(), 0);
  first.reset();
  EXPECT_NE(device->allocate(8192), nullptr);
}

struct Batches {
  const char* version;
  const char* no_batch;
  friend std::ostream& operator<<(std::ostream& out, const Batches& batches) {
    return out << batches.version << (*batches.no_batch == '1' ? "_refused" : "");
  }
};
class Batched : public testing::TestWithParam<Batches> {};
TEST_P(Batched, CopiesOfSeveralPiecesAreOneCallFrom12_8On) {
  const auto [version, no_batch] = GetParam();
  const FakeCudart fake(Settings{{"VERSION", version}, {"NO_BATCH", no_batch}});
  const bool batched = std::atoi(version) >= 12080 && *no_batch == '0';
  const auto device = cuda("cuda:0", FakeCudart::options_anew());
  const Pages from(8192);
  from.fill(7);
  device->register_memory(from.data(), from.size());
  const auto there = device->allocate(8192);
  const std::array<CopyPiece, 2> pieces{
      {{there.get() + 4096, from.data() + 4096, 4096}, {there.get(), from.data(), 4096}}};
  device->copy(pieces);
  device->copy(pieces);
  ASSERT_TRUE(device->record()->wait(kLong));
  EXPECT_EQ(Pages::wrong(there.get(), 8192, 7), 8192U);
  EXPECT_EQ(FakeCudart::count("copies"), 4);
  EXPECT_EQ(FakeCudart::count("batches"), batched ? 2 : 0);
  EXPECT_EQ(FakeCudart::count("violations"), 0);
  EXPECT_EQ(FakeCudart::last_error(), 0);
  EXPECT_EQ(device->failure(), "");
  device->unregister_memory(from.data());
}
INSTANTIATE_TEST_SUITE_P(Cuda, Batched,
                         testing::Values(Batches{"12040", "0"}, Batches{"12080", "0"}, Batches{"12090", "0"},
                                         Batches{"13000", "0"}, Batches{"13000", "1"}));

TEST(Cuda, AFailedCopyFiresNoEventAndEverythingAfterItIsRefusedByName) {
  const FakeCudart fake(Settings{{"FAIL_COPY", "2"}, {"DELAY_US", "2000"}});
  {
    const auto device = cuda("cuda:0", FakeCudart::options());
    const Pages from(4096);
    device->register_memory(from.data(), from.size());
    const auto there = device->allocate(4096);
    copy(*device, there.get(), from.data(), 4096);
    const auto good = device->record();
    EXPECT_TRUE(good->wait(kLong));
    copy(*device, there.get(), from.data(), 4096);
    const auto bad = device->record();
    bool ran = false;
    bad->then([&] { ran = true; });
    EXPECT_TRUE(test::soon([&] { return !device->failure().empty(); }));
    EXPECT_THAT(device->failure(), HasSubstr("cuda:0: what was submitted: cudaErrorIllegalAddress"));
    const Error error = error_of([&] { copy(*device, there.get(), from.data(), 4096); });
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_EQ(device->failure(), error.what());
    EXPECT_EQ(error_of([&] { (void)device->record(); }).kind(), ErrorKind::kInternal);
    EXPECT_FALSE(bad->wait(milliseconds(20)));
    EXPECT_FALSE(ran);
    EXPECT_EQ(FakeCudart::last_error(), 0);
  }
  EXPECT_EQ(FakeCudart::count("violations"), 0);
}

TEST(Cuda, AHostFunctionThatIsNeverCalledFiresNothing) {
  const FakeCudart fake(Settings{{"LOSE", "2"}});
  const auto device = cuda("cuda:0", FakeCudart::options());
  const auto first = device->record();
  const auto lost = device->record();
  EXPECT_TRUE(device->record()->wait(kLong));
  EXPECT_TRUE(first->fired());
  EXPECT_FALSE(lost->fired());
}

TEST(Cuda, TakesMemoryFromAnotherAllocatorWhereOneIsGiven) {
  const FakeCudart fake;
  std::vector<std::byte> block(4096);
  auto owner = std::make_shared<int>(0);
  CudaOptions options = FakeCudart::options();
  options.allocate = [&](std::size_t bytes, std::int32_t index) {
    EXPECT_EQ(bytes, 4096U);
    EXPECT_EQ(index, 0);
    return std::shared_ptr<void>(owner, block.data());
  };
  const auto device = cuda("cuda:0", options);
  auto memory = device->allocate(4096);
  EXPECT_EQ(memory.get(), block.data());
  EXPECT_EQ(owner.use_count(), 2);
  memory.reset();
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(FakeCudart::count("memory now"), 0);
}

TEST(Cuda, AForkedChildTouchesNothing) {
  const FakeCudart fake;
  auto device = cuda("cuda:0", FakeCudart::options());
  const Pages from(4096);
  device->register_memory(from.data(), from.size());
  test::Child child([&] {
    if (error_of([&] { (void)device->record(); }).kind() != ErrorKind::kForked) return 100;
    device->unregister_memory(from.data());
    device.reset();
    return FakeCudart::count("registered now") == 1 && FakeCudart::count("streams now") == 2 ? 0 : 101;
  });
  EXPECT_EQ(child.wait(), 0);
  device->unregister_memory(from.data());
  EXPECT_TRUE(device->record()->wait(kLong));
}

}  // namespace
}  // namespace feedring
