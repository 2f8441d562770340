// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <feedring/cuda.hpp>
#include <feedring/error.hpp>
#include <mutex>
#include <utility>
#include <vector>

#include "consumers/cuda/context.hpp"
#include "consumers/cuda/finish_kernel.hpp"
#include "consumers/host_stream.hpp"
#include "consumers/registered_ranges.hpp"

namespace feedring {
namespace {

using cudart::Context;
using cudart::EventPtr;
using cudart::kSuccess;
using cudart::Status;

/// An event of CUDA's; gives it back at its end.
class Recorded {
 public:
  explicit Recorded(std::shared_ptr<Context> context) : context_(std::move(context)), event_(context_->take_event()) {}
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  virtual ~Recorded() { context_->give_event(event_); }
  [[nodiscard]] EventPtr event() const noexcept { return event_; }

 private:
  std::shared_ptr<Context> context_;
  EventPtr event_;
};

class CudaMark final : public Mark, public Recorded {
 public:
  using Recorded::Recorded;
};

/// Its state is fired from a host function: asking CUDA itself could disturb a graph that the program is recording.
class CudaEvent final : public Event, public Recorded {
 public:
  using Recorded::Recorded;
  [[nodiscard]] bool fired() const noexcept override { return state_->fired(); }
  [[nodiscard]] bool wait(std::chrono::nanoseconds at_most) const override { return state_->wait(at_most); }
  void then(std::function<void()> action) override { state_->then(std::move(action)); }
  [[nodiscard]] const std::shared_ptr<HostEvent>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<HostEvent> state_ = std::make_shared<HostEvent>();
};

// CUDA runs it after the event, and never after a failure of the device. It must not call CUDA.
void fire(void* pointer) {
  const Context::InHostFunction here;
  const std::unique_ptr<std::shared_ptr<HostEvent>> state(static_cast<std::shared_ptr<HostEvent>*>(pointer));
  (*state)->fire();
}

class CudaDevice final : public Device {
 public:
  CudaDevice(const cudart::Runtime& runtime, int index, CudaOptions options)
      : options_(std::move(options)),
        context_(std::make_shared<Context>(runtime, index)),
        batches_(runtime.batch_12 != nullptr || runtime.batch_13 != nullptr) {}
  ~CudaDevice() override {
    context_->run_at_end([context = context_] {
      if (context->runtime().cudaStreamSynchronize(context->copies()) == kSuccess)
        (void)context->runtime().cudaStreamSynchronize(context->signals());
      context->runtime().cudaGetLastError();
    });
  }

  [[nodiscard]] std::string_view name() const noexcept override { return context_->name(); }
  [[nodiscard]] DeviceTag tag() const noexcept override { return {DeviceType::kCuda, context_->index()}; }
  [[nodiscard]] bool copies() const noexcept override { return true; }
  [[nodiscard]] StreamHandle own_stream() const noexcept override { return context_->copies(); }

  void register_memory(std::byte* base, std::size_t bytes) override {
    ranges_.add(base, bytes);
    try {
      context_->run([&] {
        context_->check(cuda().cudaHostRegister(base, bytes, cudart::kHostRegisterPortable), "cudaHostRegister",
                        ErrorKind::kRefused);
      });
    } catch (...) {
      ranges_.remove(base);
      throw;
    }
  }
  void unregister_memory(std::byte* base) noexcept override {
    if (!ranges_.remove(base)) return;
    context_->run_at_end([context = context_, base] {
      if (context->runtime().cudaHostUnregister(base) != kSuccess) context->runtime().cudaGetLastError();
    });
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    if (bytes == 0) throw Error(ErrorKind::kUsage, context_->name() + ": 0 bytes of memory were asked for");
    if (options_.allocate) {
      std::shared_ptr<void> memory;
      try {
        memory = options_.allocate(bytes, context_->index());
      } catch (const std::exception& error) {
        throw Error(ErrorKind::kMemory,
                    fmt::format("{}: the allocator has no {} bytes: {}", context_->name(), bytes, error.what()));
      }
      if (!memory) {
        throw Error(ErrorKind::kMemory, fmt::format("{}: the allocator has no {} bytes", context_->name(), bytes));
      }
      return {memory, static_cast<std::byte*>(memory.get())};
    }
    void* memory = nullptr;
    context_->run([&] {
      const Status status = cuda().cudaMalloc(&memory, bytes);
      // A device that failed says so here too: that is no want of memory.
      const ErrorKind kind = status == cudart::kMemoryAllocation ? ErrorKind::kMemory : ErrorKind::kInternal;
      context_->check(status, fmt::format("cudaMalloc of {} bytes", bytes).c_str(), kind);
    });
    return {static_cast<std::byte*>(memory), [context = context_](std::byte* done) {
              context->run_at_end([context, done] {
                if (context->runtime().cudaFree(done) != kSuccess) context->runtime().cudaGetLastError();
              });
            }};
  }

  void copy(std::span<const CopyPiece> pieces) override {
    std::vector<CopyPiece> rest;
    bool registered = true;
    for (const CopyPiece& piece : pieces) {
      if (piece.bytes == 0) continue;
      rest.push_back(piece);
      registered = registered && ranges_.contain(piece.from, piece.bytes);
    }
    submit([&] {
      if (rest.size() > 1 && registered && batches_.load(std::memory_order_relaxed) && copy_batch(rest)) return;
      for (const CopyPiece& piece : rest) {
        context_->check(
            cuda().cudaMemcpyAsync(piece.to, piece.from, piece.bytes, cudart::kMemcpyDefault, context_->copies()),
            "cudaMemcpyAsync");
      }
    });
  }

  void finish(const FinishWork& work) override {
    submit([&] {
      {
        const std::lock_guard lock(mutex_);
        if (!finish_) finish_ = std::make_unique<const cudart::FinishKernel>(*context_);
      }
      finish_->launch(*context_, work);
    });
  }

  [[nodiscard]] std::shared_ptr<Event> record() override {
    std::shared_ptr<CudaEvent> event;
    submit([&] {
      event = std::make_shared<CudaEvent>(context_);
      const std::lock_guard lock(mutex_);  // so that events fire in the order of their recording
      context_->check(cuda().cudaEventRecord(event->event(), context_->copies()), "cudaEventRecord");
      context_->check(cuda().cudaStreamWaitEvent(context_->signals(), event->event(), 0), "cudaStreamWaitEvent");
      auto state = std::make_unique<std::shared_ptr<HostEvent>>(event->state());
      context_->check(cuda().cudaLaunchHostFunc(context_->signals(), &fire, state.get()), "cudaLaunchHostFunc");
      (void)state.release();  // fire() has it now
    });
    return event;
  }

  [[nodiscard]] std::shared_ptr<const Mark> mark(StreamHandle stream) override {
    std::shared_ptr<CudaMark> mark;
    submit([&] {
      demand_uncaptured(stream);
      mark = std::make_shared<CudaMark>(context_);
      context_->check(cuda().cudaEventRecord(mark->event(), stream), "cudaEventRecord");
    });
    return mark;
  }

  void order(StreamHandle stream, const Mark& mark, std::chrono::nanoseconds) override {
    const auto* recorded = dynamic_cast<const Recorded*>(&mark);
    if (recorded == nullptr) {
      throw Error(ErrorKind::kUsage, context_->name() + ": this mark was made by a device of another kind");
    }
    submit([&] {
      demand_uncaptured(stream);
      context_->check(cuda().cudaStreamWaitEvent(stream, recorded->event(), 0), "cudaStreamWaitEvent");
    });
  }

  [[nodiscard]] std::string failure() const override {
    std::string known = told();
    if (!known.empty() || !context_->is_mine()) return known;
    try {
      context_->run([&] {
        const Status status = cuda().cudaStreamQuery(context_->copies());
        if (status == cudart::kNotReady)
          cuda().cudaGetLastError();
        else
          context_->check(status, "what was submitted");
      });
    } catch (const Error& error) {
      remember(error);
    }
    return told();
  }

 private:
  [[nodiscard]] const cudart::Runtime& cuda() const noexcept { return context_->runtime(); }

  // Whatever fails on the way leaves it open how far the device got: nothing more is asked of it.
  void submit(const std::function<void()>& calls) {
    if (std::string why = told(); !why.empty()) throw Error(ErrorKind::kInternal, why);
    try {
      context_->run(calls);
    } catch (const Error& error) {
      remember(error);
      throw;
    } catch (const std::exception& error) {
      const Error named(ErrorKind::kInternal, context_->name() + ": " + error.what());  // no thread, no memory
      remember(named);
      throw named;
    }
  }
  [[nodiscard]] std::string told() const {
    const std::lock_guard lock(failure_mutex_);
    return failure_;
  }
  void remember(const Error& error) const {
    const std::lock_guard lock(failure_mutex_);
    if (error.kind() == ErrorKind::kInternal && failure_.empty()) failure_ = error.what();
  }

  // What is put on a stream that records a graph happens when the graph is launched, if ever, and what is not recorded
  // cannot be waited for there: CUDA would end the recording, and the program would be told so elsewhere.
  void demand_uncaptured(StreamHandle stream) const {
    int capture = cudart::kNotCapturing;
    const Status status = cuda().cudaStreamIsCapturing(stream, &capture);
    if (status == cudart::kCaptureImplicit) {  // asked of the default stream, which others' recordings include
      cuda().cudaGetLastError();
    } else {
      context_->check(status, "cudaStreamIsCapturing");
      if (capture == cudart::kNotCapturing) return;
    }
    throw Error(ErrorKind::kUsage,
                context_->name() +
                    ": the stream that uses the batches is recording a CUDA graph; take batches before "
                    "or after the recording, and copy them to the graph's own input");
  }

  /// False where this driver cannot: then nothing was begun.
  bool copy_batch(const std::vector<CopyPiece>& pieces) {
    std::vector<void*> to;
    std::vector<void*> from;
    std::vector<std::size_t> bytes;
    for (const CopyPiece& piece : pieces) {
      to.push_back(piece.to);
      from.push_back(const_cast<std::byte*>(piece.from));
      bytes.push_back(piece.bytes);
    }
    cudart::CopyAttributes attributes{
        cudart::kSourceInStreamOrder, {cudart::kLocationHost, 0}, {cudart::kLocationDevice, context_->index()}, 0};
    std::size_t first = 0;
    std::size_t failed = 0;
    const Status status = cuda().batch_13 != nullptr
                              ? cuda().batch_13(to.data(), from.data(), bytes.data(), bytes.size(), &attributes, &first,
                                                1, context_->copies())
                              : cuda().batch_12(to.data(), from.data(), bytes.data(), bytes.size(), &attributes, &first,
                                                1, &failed, context_->copies());
    if (status == cudart::kNotSupported || status == cudart::kCallRequiresNewerDriver) {
      cuda().cudaGetLastError();
      batches_.store(false, std::memory_order_relaxed);
      return false;
    }
    context_->check(status, "cudaMemcpyBatchAsync");
    return true;
  }

  CudaOptions options_;
  std::shared_ptr<Context> context_;
  std::atomic<bool> batches_;
  RegisteredRanges ranges_;
  std::mutex mutex_;
  std::unique_ptr<const cudart::FinishKernel> finish_;
  mutable std::mutex failure_mutex_;
  mutable std::string failure_;
};

/// The number of devices. Throws Error(kRefused) with CUDA's own error where there is none.
int count_devices(const cudart::Runtime& runtime) {
  int count = 0;
  const Status status = runtime.cudaGetDeviceCount(&count);
  if (status != kSuccess) {
    throw Error(ErrorKind::kRefused,
                fmt::format("{}: no CUDA device can be used; the runtime is {} ({}.{})", runtime.explain(status),
                            runtime.path, runtime.version / 1000, runtime.version % 1000 / 10));
  }
  if (count == 0) throw Error(ErrorKind::kRefused, "cudaErrorNoDevice: CUDA counts no device");
  return count;
}

}  // namespace

std::shared_ptr<Device> cuda(std::string_view name, const CudaOptions& options) {
  constexpr std::string_view kKind = "cuda";
  const Error odd(ErrorKind::kUsage, fmt::format("'{}' is no CUDA device; say cuda, cuda:0, cuda:1, …", name));
  if (!name.starts_with(kKind)) throw odd;
  int index = -1;
  if (const std::string_view number = name.substr(kKind.size()); !number.empty()) {
    const auto [end, error] = std::from_chars(number.data() + 1, number.data() + number.size(), index);
    if (number[0] != ':' || error != std::errc() || end != number.data() + number.size() || index < 0) throw odd;
  }
  const cudart::Runtime& runtime = cudart::load_runtime(options.runtime);
  const int count = count_devices(runtime);
  if (index < 0 && runtime.cudaGetDevice(&index) != kSuccess) {
    runtime.cudaGetLastError();
    index = 0;
  }
  if (index >= count) {
    throw Error(ErrorKind::kUsage,
                fmt::format("there is no {}: this process sees {} CUDA device{}", name, count, count == 1 ? "" : "s"));
  }
  return std::make_shared<CudaDevice>(runtime, index, options);
}

std::string why_no_cuda(const CudaOptions& options) {
  try {
    (void)count_devices(cudart::load_runtime(options.runtime));
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace feedring
