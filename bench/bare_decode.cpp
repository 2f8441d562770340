// SPDX-License-Identifier: Apache-2.0
// bare_decode DIR PROCESSES SECONDS: the yardstick. N processes that do nothing but decode the JPEGs below DIR, whole,
// with libjpeg-turbo at its defaults, from memory into one buffer: no file reading, no resize, no shared memory, nobody
// to hand anything to. Prints one JSON object.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/jpeg_yardstick.hpp"
#include "runtime/futex.hpp"

namespace {

using feedring::bench::Bytes;
using feedring::bench::full_decode;
using feedring::bench::read_all;

struct Shared {
  std::atomic<unsigned> ready;
  std::atomic<std::uint64_t> begin_ns;
  std::atomic<std::uint64_t> images;
};

[[noreturn]] void run(Shared& shared, const std::vector<Bytes>& files, unsigned number, double seconds) {
  Bytes pixels;
  for (const Bytes& file : files) full_decode(file, pixels);  // warm
  shared.ready.fetch_add(1, std::memory_order_relaxed);
  while (shared.begin_ns.load(std::memory_order_relaxed) == 0) ::usleep(100);
  const std::uint64_t end = shared.begin_ns.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(seconds * 1e9);
  std::uint64_t images = 0;
  for (std::size_t i = number; feedring::monotonic_ns() < end; ++i, ++images)
    full_decode(files[i % files.size()], pixels);
  shared.images.fetch_add(images, std::memory_order_relaxed);
  ::_exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: bare_decode DIR PROCESSES SECONDS\n", stderr);
    return 2;
  }
  const std::vector<Bytes> files = read_all(argv[1]);
  const auto processes = static_cast<unsigned>(std::atoi(argv[2]));
  const double seconds = std::atof(argv[3]);
  if (files.empty() || processes == 0 || seconds <= 0) {
    std::fprintf(stderr, "bare_decode: no JPEG below %s, or a count of 0\n", argv[1]);
    return 2;
  }
  auto* shared =
      static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (unsigned i = 0; i < processes; ++i) {
    if (::fork() == 0) run(*shared, files, i * 7919, seconds);
  }
  while (shared->ready.load(std::memory_order_relaxed) < processes) ::usleep(1000);
  shared->begin_ns.store(feedring::monotonic_ns(), std::memory_order_relaxed);
  while (::wait(nullptr) > 0) {
  }
  const double wall =
      static_cast<double>(feedring::monotonic_ns() - shared->begin_ns.load(std::memory_order_relaxed)) * 1e-9;
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto images = static_cast<double>(shared->images.load(std::memory_order_relaxed));
  // Each warm-up decoded every file once; its CPU time is taken off in proportion.
  const double cpu_all = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
  const double decoded = images + static_cast<double>(files.size()) * processes;
  std::printf("{\"processes\":%u,\"images\":%.0f,\"seconds\":%.4f,\"images_per_s\":%.2f,\"cpu_ms_per_image\":%.5f}\n",
              processes, images, wall, images / wall, cpu_all * 1e3 / decoded);
  return 0;
}
