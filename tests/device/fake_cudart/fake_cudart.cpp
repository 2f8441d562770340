// SPDX-License-Identifier: Apache-2.0
// A stand-in for NVIDIA's libcudart, so that feedring's own calls, their order, their error paths and what they clean
// up can be tested where there is no GPU. It shows that we call CUDA as its documentation demands. It shows NOTHING
// about what a driver or a GPU does, how long anything takes, or whether pinned memory is pinned: that is for
// tests/gpu.
//
// Streams are threads, device memory is the heap. It is stricter than the real one: what the documentation forbids is
// counted as a violation (a call from a host function, an event recorded on another device's stream, unregistering
// memory that a copy still reads, an error left behind on a thread that ends, …).
//
// Settings come from the environment, read when the library is loaded and by fake_cudart_reload():
//   FAKE_CUDART_VERSION   what it says it is (13000); decides the signature of cudaMemcpyBatchAsync
//   FAKE_CUDART_DEVICES   how many devices (1); -1: no driver
//   FAKE_CUDART_DELAY_US  how long each copy takes (0)
//   FAKE_CUDART_FAIL_COPY the n-th copy ends in an illegal address, and with it everything (0: none)
//   FAKE_CUDART_REFUSE    cudaHostRegister refuses more bytes than this (-1: never)
//   FAKE_CUDART_ROOM      bytes of device memory (-1: unlimited)
//   FAKE_CUDART_NO_BATCH  1: the driver is too old for cudaMemcpyBatchAsync
//   FAKE_CUDART_LOSE      every n-th host function is never called (0: none)
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/device/fake_cudart/fake_driver.hpp"

namespace {

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInsufficientDriver = 35,
  kCallRequiresNewerDriver = 36,
  kInvalidDevice = 101,
  kInvalidResourceHandle = 400,
  kNotReady = 600,
  kIllegalAddress = 700,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kNotPermitted = 800,
  kCaptureUnsupported = 900,
  kCaptureImplicit = 906,
};

struct Settings {
  long version = 13000, devices = 1, delay_us = 0, fail_copy = 0, refuse = -1, room = -1, no_batch = 0, lose = 0;
};
long setting(const char* name, long otherwise) {
  const char* text = std::getenv((std::string("FAKE_CUDART_") + name).c_str());
  return text != nullptr ? std::atol(text) : otherwise;
}

// A point in a stream. Reached, or never: its stream failed.
struct Point {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
};

struct Stream;
struct Event {
  int device;
  std::shared_ptr<Point> point;  // null: never recorded
};

struct World {
  std::mutex mutex;
  Settings settings;
  std::set<Stream*> streams;
  std::set<Event*> events;
  std::map<const char*, std::size_t> registered;
  std::multimap<const char*, std::size_t> busy;               // what copies under way read and write
  std::map<const char*, std::pair<std::size_t, int>> memory;  // of devices
  std::map<int, Stream*> defaults;
  std::atomic<void*> capturing{nullptr};    // the stream that records a graph
  std::atomic<bool> blocks_default{false};  // and with it the default stream
  std::size_t used = 0;
  std::atomic<bool> failed{false};
  std::atomic<long> violations{0}, contexts{0}, copies{0}, batches{0}, staged{0}, host_functions{0}, registrations{0};
};
World& world() {
  static World& the = *new World;  // streams may run until the process ends
  return the;
}

struct ThreadState {
  int device = 0;
  int last_error = kSuccess;
  bool in_host_function = false;
  ~ThreadState() {
    if (last_error != kSuccess) ++world().violations;  // somebody else would be blamed for it
  }
};
thread_local ThreadState here;

int fail(int status) {
  if (status != kSuccess) here.last_error = status;
  return status;
}

// What every call that needs the device does first.
int enter() {
  if (here.in_host_function) {
    ++world().violations;
    return fail(kNotPermitted);
  }
  if (world().settings.devices < 0) return fail(kInsufficientDriver);
  world().contexts |= 1L << here.device;
  return world().failed ? fail(kIllegalAddress) : static_cast<int>(kSuccess);
}

// Events of others mean nothing in a graph: the recording would be lost.
int refuse_in_capture(void* on) {
  if (on == nullptr ? !world().blocks_default : on != world().capturing) return kSuccess;
  ++world().violations;
  return fail(kCaptureUnsupported);
}

struct Stream {
  int device;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> works;
  bool closing = false;
  bool working = false;

  explicit Stream(int on) : device(on) {
    std::thread([this] { run(); }).detach();
  }
  // Both notify under the lock: the thread deletes the stream once it is closed.
  void put(std::function<void()> work) {
    const std::lock_guard lock(mutex);
    works.push_back(std::move(work));
    changed.notify_one();
  }
  void close() {
    const std::lock_guard lock(mutex);
    closing = true;
    changed.notify_one();
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex);
        working = false;
        changed.wait(lock, [this] { return closing || !works.empty(); });
        if (works.empty()) break;
        work = std::move(works.front());
        works.pop_front();
        working = true;
      }
      if (!world().failed) work();
    }
    delete this;
  }
};

// Null is the default stream of the current device.
Stream* stream_of(void* handle) {
  World& all = world();
  const std::lock_guard lock(all.mutex);
  if (handle == nullptr) {
    Stream*& stream = all.defaults[here.device];
    if (stream == nullptr) stream = new Stream(here.device);
    return stream;
  }
  auto* stream = static_cast<Stream*>(handle);
  return all.streams.contains(stream) ? stream : nullptr;
}

template <class Map>
bool lies_in(const Map& map, const char* from, std::size_t bytes, std::size_t (*size)(typename Map::mapped_type)) {
  const auto after = map.upper_bound(from);
  if (after == map.begin()) return false;
  const auto range = std::prev(after);
  return from + bytes <= range->first + size(range->second);
}
bool is_registered(const char* from, std::size_t bytes) {
  return lies_in(
      world().registered, from, bytes, +[](std::size_t size) { return size; });
}
bool is_device(const char* from, std::size_t bytes) {
  return lies_in(
      world().memory, from, bytes, +[](std::pair<std::size_t, int> each) { return each.first; });
}

bool is_busy(const char* from, std::size_t bytes) {
  const auto user = world().busy.lower_bound(from);
  return user != world().busy.end() && user->first < from + bytes;
}

void not_busy(const char* from) {
  const auto user = world().busy.find(from);
  if (user != world().busy.end()) world().busy.erase(user);  // else it was forgotten by fake_cudart_reload()
}

void synchronize(Stream& stream) {
  const auto point = std::make_shared<Point>();
  stream.put([point] {
    const std::lock_guard lock(point->mutex);
    point->reached = true;
    point->changed.notify_all();
  });
  std::unique_lock lock(point->mutex);
  while (!point->reached && !world().failed) point->changed.wait_for(lock, std::chrono::milliseconds(1));
}

int copy(char* to, const char* from, std::size_t bytes, Stream& stream) {
  World& all = world();
  bool later;
  bool back;  // to memory of the host that nobody pinned: it is there when the call returns
  {
    const std::lock_guard lock(all.mutex);
    const bool pinned = is_registered(from, bytes);
    later = pinned || is_device(from, bytes);
    back = !is_device(to, bytes) && !is_registered(to, bytes);
    if (later) all.busy.emplace(from, bytes);
    all.busy.emplace(to, bytes);
  }
  std::vector<char> staged;
  if (!later) {
    staged.assign(from, from + bytes);
    ++all.staged;
  }
  const bool fails = ++all.copies == all.settings.fail_copy;
  stream.put([to, from, bytes, fails, staged = std::move(staged)] {
    if (world().settings.delay_us > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(world().settings.delay_us));
    if (fails) {
      world().failed = true;
      return;
    }
    std::memcpy(to, staged.empty() ? from : staged.data(), bytes);
    const std::lock_guard lock(world().mutex);
    if (staged.empty()) not_busy(from);
    not_busy(to);
  });
  if (back) synchronize(stream);
  return world().failed ? fail(kIllegalAddress) : static_cast<int>(kSuccess);
}

void read_settings() {
  world().settings = {setting("VERSION", 13000), setting("DEVICES", 1), setting("DELAY_US", 0), setting("FAIL_COPY", 0),
                      setting("REFUSE", -1),     setting("ROOM", -1),   setting("NO_BATCH", 0), setting("LOSE", 0)};
}
[[maybe_unused]] const bool loaded = (read_settings(), true);

}  // namespace

extern "C" {

// ── for the tests ────────────────────────────────────────────────────────────────────────────────────────────────

/// Reads the settings again, and begins anew after a failure.
void fake_cudart_reload() {
  read_settings();
  World& all = world();
  all.failed = false;
  {
    const std::lock_guard lock(all.mutex);
    all.registered.clear();
    all.memory.clear();
    all.busy.clear();
    all.used = 0;
  }
  all.violations = all.contexts = all.copies = all.batches = all.staged = all.host_functions = all.registrations = 0;
}

/// `stream` records a graph from now on; null: none does.
void fake_cudart_capture(void* stream, int blocks_default) {
  world().capturing = stream;
  world().blocks_default = blocks_default != 0;
}

long fake_cudart_count(const char* what) {
  World& all = world();
  const std::lock_guard lock(all.mutex);
  const std::string name = what;
  if (name == "violations") return all.violations;
  if (name == "contexts") return all.contexts;  // a bit per device
  if (name == "copies") return all.copies;
  if (name == "batches") return all.batches;
  if (name == "staged") return all.staged;
  if (name == "host functions") return all.host_functions;
  if (name == "registrations") return all.registrations;
  if (name == "registered now") return static_cast<long>(all.registered.size());
  if (name == "streams now") return static_cast<long>(all.streams.size());
  if (name == "events now") return static_cast<long>(all.events.size());
  if (name == "memory now") return static_cast<long>(all.memory.size());
  return -1;
}

int cudaPeekAtLastError() { return here.last_error; }

// ── without a device ─────────────────────────────────────────────────────────────────────────────────────────────

const char* cudaGetErrorName(int status) {
  switch (status) {
    case kSuccess: return "cudaSuccess";
    case kInvalidValue: return "cudaErrorInvalidValue";
    case kMemoryAllocation: return "cudaErrorMemoryAllocation";
    case kInsufficientDriver: return "cudaErrorInsufficientDriver";
    case kCallRequiresNewerDriver: return "cudaErrorCallRequiresNewerDriver";
    case kInvalidDevice: return "cudaErrorInvalidDevice";
    case kInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    case kNotReady: return "cudaErrorNotReady";
    case kIllegalAddress: return "cudaErrorIllegalAddress";
    case kAlreadyRegistered: return "cudaErrorHostMemoryAlreadyRegistered";
    case kNotRegistered: return "cudaErrorHostMemoryNotRegistered";
    case kNotPermitted: return "cudaErrorNotPermitted";
    default: return "cudaErrorUnknown";
  }
}
const char* cudaGetErrorString(int) { return "said by the stand-in of feedring's tests"; }
int cudaGetLastError() {
  const int status = here.last_error;
  here.last_error = kSuccess;
  return status;
}
int cudaRuntimeGetVersion(int* version) {
  *version = static_cast<int>(world().settings.version);
  return kSuccess;
}
int cudaGetDeviceCount(int* count) {
  if (world().settings.devices < 0) return fail(kInsufficientDriver);
  *count = static_cast<int>(world().settings.devices);
  return kSuccess;
}
int cudaGetDevice(int* device) {
  *device = here.device;
  return kSuccess;
}
int cudaSetDevice(int device) {
  if (device < 0 || device >= world().settings.devices) return fail(kInvalidDevice);
  here.device = device;
  return enter();
}
int cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(current, *mode);
  return kSuccess;
}

// ── streams and events ───────────────────────────────────────────────────────────────────────────────────────────

int cudaStreamCreateWithFlags(void** stream, unsigned) {
  if (const int status = enter(); status != kSuccess) return status;
  auto* made = new Stream(here.device);
  const std::lock_guard lock(world().mutex);
  world().streams.insert(made);
  *stream = made;
  return kSuccess;
}
int cudaStreamDestroy(void* handle) {
  if (here.in_host_function) ++world().violations;
  Stream* stream = stream_of(handle);
  if (handle == nullptr || stream == nullptr) return fail(kInvalidResourceHandle);
  {
    const std::lock_guard lock(world().mutex);
    world().streams.erase(stream);
  }
  stream->close();
  return kSuccess;
}
int cudaStreamQuery(void* handle) {
  if (const int status = enter(); status != kSuccess) return status;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return fail(kInvalidResourceHandle);
  const std::lock_guard lock(stream->mutex);
  return stream->works.empty() && !stream->working ? static_cast<int>(kSuccess) : fail(kNotReady);
}
int cudaStreamIsCapturing(void* handle, int* status) {
  if (const int entered = enter(); entered != kSuccess) return entered;
  if (handle == nullptr && world().blocks_default) return fail(kCaptureImplicit);
  *status = handle != nullptr && handle == world().capturing ? 1 : 0;
  return kSuccess;
}
int cudaStreamSynchronize(void* handle) {
  if (const int status = enter(); status != kSuccess) return status;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) return fail(kInvalidResourceHandle);
  synchronize(*stream);
  return world().failed ? fail(kIllegalAddress) : static_cast<int>(kSuccess);
}
int cudaEventCreateWithFlags(void** event, unsigned) {
  if (const int status = enter(); status != kSuccess) return status;
  auto* made = new Event{here.device, nullptr};
  const std::lock_guard lock(world().mutex);
  world().events.insert(made);
  *event = made;
  return kSuccess;
}
int cudaEventDestroy(void* handle) {
  if (here.in_host_function) ++world().violations;
  auto* event = static_cast<Event*>(handle);
  const std::lock_guard lock(world().mutex);
  if (world().events.erase(event) == 0) return fail(kInvalidResourceHandle);
  delete event;
  return kSuccess;
}
int cudaEventRecord(void* handle, void* on) {
  if (const int status = enter(); status != kSuccess) return status;
  if (const int status = refuse_in_capture(on); status != kSuccess) return status;
  Stream* stream = stream_of(on);
  auto* event = static_cast<Event*>(handle);
  const auto point = std::make_shared<Point>();
  {
    const std::lock_guard lock(world().mutex);
    if (stream == nullptr || !world().events.contains(event) || event->device != stream->device) {
      ++world().violations;
      return fail(kInvalidResourceHandle);
    }
    event->point = point;
  }
  stream->put([point] {
    const std::lock_guard lock(point->mutex);
    point->reached = true;
    point->changed.notify_all();
  });
  return kSuccess;
}
int cudaStreamWaitEvent(void* on, void* handle, unsigned) {
  if (const int status = enter(); status != kSuccess) return status;
  if (const int status = refuse_in_capture(on); status != kSuccess) return status;
  Stream* stream = stream_of(on);
  auto* event = static_cast<Event*>(handle);
  std::shared_ptr<Point> point;
  {
    const std::lock_guard lock(world().mutex);
    if (stream == nullptr || !world().events.contains(event)) {
      ++world().violations;
      return fail(kInvalidResourceHandle);
    }
    point = event->point;
  }
  if (point == nullptr) {
    ++world().violations;  // it would wait for nothing, which nobody can have meant
    return kSuccess;
  }
  stream->put([point] {
    std::unique_lock lock(point->mutex);
    while (!point->reached && !world().failed) point->changed.wait_for(lock, std::chrono::milliseconds(1));
  });
  return kSuccess;
}
int cudaLaunchHostFunc(void* on, void (*function)(void*), void* argument) {
  if (const int status = enter(); status != kSuccess) return status;
  Stream* stream = stream_of(on);
  if (stream == nullptr) return fail(kInvalidResourceHandle);
  const long number = ++world().host_functions;
  if (world().settings.lose > 0 && number % world().settings.lose == 0) return kSuccess;
  stream->put([function, argument] {
    here.in_host_function = true;
    function(argument);
    here.in_host_function = false;
  });
  return kSuccess;
}

// ── memory ───────────────────────────────────────────────────────────────────────────────────────────────────────

int cudaMalloc(void** memory, std::size_t bytes) {
  if (const int status = enter(); status != kSuccess) return status;
  World& all = world();
  const std::lock_guard lock(all.mutex);
  if (all.settings.room >= 0 && all.used + bytes > static_cast<std::size_t>(all.settings.room))
    return fail(kMemoryAllocation);
  *memory = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  all.used += bytes;
  all.memory[static_cast<const char*>(*memory)] = {bytes, here.device};
  return kSuccess;
}
int cudaFree(void* memory) {
  if (const int status = enter(); status != kSuccess) return status;
  World& all = world();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.memory.find(static_cast<const char*>(memory));
    if (found == all.memory.end()) return fail(kInvalidValue);
    const bool busy = is_busy(found->first, found->second.first);
    all.used -= found->second.first;
    all.memory.erase(found);
    if (busy) {
      ++all.violations;  // the real one may wait for it, an allocator on top of it does not
      return kSuccess;
    }
  }
  std::free(memory);
  return kSuccess;
}
int cudaMallocHost(void** memory, std::size_t bytes) {
  if (const int status = enter(); status != kSuccess) return status;
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  const std::lock_guard lock(world().mutex);
  world().registered[static_cast<const char*>(*memory)] = bytes;
  return kSuccess;
}
int cudaFreeHost(void* memory) {
  if (const int status = enter(); status != kSuccess) return status;
  World& all = world();
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.registered.find(static_cast<const char*>(memory));
    if (found == all.registered.end()) return fail(kInvalidValue);
    if (is_busy(found->first, found->second)) ++all.violations;
    all.registered.erase(found);
  }
  std::free(memory);
  return kSuccess;
}
int cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  if (const int status = enter(); status != kSuccess) return status;
  World& all = world();
  ++all.registrations;
  if (bytes == 0) ++all.violations;
  if (memory == nullptr || bytes == 0) return fail(kInvalidValue);
  if (all.settings.refuse >= 0 && bytes > static_cast<std::size_t>(all.settings.refuse)) return fail(kMemoryAllocation);
  const auto* begin = static_cast<const char*>(memory);
  const std::lock_guard lock(all.mutex);
  const auto after = all.registered.lower_bound(begin);
  const bool next = after != all.registered.end() && after->first < begin + bytes;
  const bool previous = after != all.registered.begin() && std::prev(after)->first + std::prev(after)->second > begin;
  if (next || previous) return fail(kAlreadyRegistered);
  all.registered[begin] = bytes;
  return kSuccess;
}
int cudaHostUnregister(void* memory) {
  if (const int status = enter(); status != kSuccess) return status;
  World& all = world();
  const std::lock_guard lock(all.mutex);
  const auto found = all.registered.find(static_cast<const char*>(memory));
  if (found == all.registered.end()) return fail(kNotRegistered);
  if (is_busy(found->first, found->second)) ++all.violations;
  all.registered.erase(found);
  return kSuccess;
}
int cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void* on) {
  if (const int status = enter(); status != kSuccess) return status;
  Stream* stream = stream_of(on);
  if (stream == nullptr) return fail(kInvalidResourceHandle);
  if (kind != 4 || bytes == 0) ++world().violations;
  return copy(static_cast<char*>(to), static_cast<const char*>(from), bytes, *stream);
}

// Until 11.2 there is none, and the fourth argument came with 12.
int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, int* found) {
  if (flags != 0) ++world().violations;
  if (world().settings.devices < 0) return fail(kInsufficientDriver);
  *function = world().settings.version < 11030 ? nullptr : feedring::test::driver_entry_point(name);
  if (world().settings.version >= 12000 && found != nullptr) *found = *function == nullptr ? 1 : 0;
  return kSuccess;
}
}  // extern "C"

int feedring::test::put_on_stream(void* on, std::function<void()> work) {
  if (const int status = enter(); status != kSuccess) return status;
  Stream* stream = stream_of(on);
  if (on == nullptr || stream == nullptr) return fail(kInvalidResourceHandle);
  stream->put(std::move(work));
  return kSuccess;
}

namespace {

struct Attributes {
  int order;
  int source[2];
  int destination[2];
  unsigned flags;
};

int copy_batch(void* const* to, const void* const* from, const std::size_t* bytes, std::size_t count,
               const Attributes* attributes, const std::size_t* firsts, std::size_t kinds, void* on) {
  if (const int status = enter(); status != kSuccess) return status;
  if (world().settings.no_batch != 0) return fail(kCallRequiresNewerDriver);
  Stream* stream = stream_of(on);
  if (on == nullptr || stream == nullptr) return fail(kInvalidResourceHandle);
  if (count == 0 || kinds != 1 || firsts[0] != 0 || attributes[0].order != 1) {
    ++world().violations;
    return fail(kInvalidValue);
  }
  ++world().batches;
  for (std::size_t i = 0; i < count; ++i) {
    const int status = copy(static_cast<char*>(to[i]), static_cast<const char*>(from[i]), bytes[i], *stream);
    if (status != kSuccess) return status;
  }
  return kSuccess;
}

}  // namespace

// One name, two signatures, as in NVIDIA's: since 13.0 without the index of the failed copy. The arguments that both
// have are the same; the eighth is either the stream or that index, and there is a ninth only before 13.0.
extern "C" int cudaMemcpyBatchAsync(void** to, void** from, std::size_t* bytes, std::size_t count,
                                    Attributes* attributes, std::size_t* firsts, std::size_t kinds, void* eighth,
                                    void* ninth) {
  if (world().settings.version >= 13000) return copy_batch(to, from, bytes, count, attributes, firsts, kinds, eighth);
  if (eighth == nullptr) ++world().violations;
  return copy_batch(to, from, bytes, count, attributes, firsts, kinds, ninth);
}
