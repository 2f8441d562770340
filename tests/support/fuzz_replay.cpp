// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target without libFuzzer: each input of the kept corpus, then changed ones for a while, the same ones in
// the same order in every run. What an input was that crashed, or took too long, is left in a file.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLongest = 4096;  // of a changed input
constexpr unsigned kHangS = 20;

Bytes current;
std::string left_in;

void leave_input() {
  const int fd = ::open(left_in.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return;
  const bool written = ::write(fd, current.data(), current.size()) == static_cast<ssize_t>(current.size());
  ::close(fd);
  for (const char* part :
       {written ? "the input is in " : "the input could not be written to ", left_in.c_str(), "\n"}) {
    if (::write(STDERR_FILENO, part, std::char_traits<char>::length(part)) < 0) return;
  }
}

void on_signal(int number) {
  if (number == SIGALRM) {
    constexpr std::string_view kText = "this input takes too long\n";
    (void)!::write(STDERR_FILENO, kText.data(), kText.size());
  }
  leave_input();
  ::signal(number == SIGALRM ? SIGABRT : number, SIG_DFL);
  ::raise(number == SIGALRM ? SIGABRT : number);
}

void run(Bytes input) {
  current = std::move(input);
  ::alarm(kHangS);
  LLVMFuzzerTestOneInput(current.data(), current.size());
  ::alarm(0);
}

/// One to eight changes: bits, bytes, numbers that are borders, a piece cut out, doubled or taken from another input.
Bytes changed(Bytes input, const std::vector<Bytes>& others, std::mt19937& rng) {
  for (auto changes = 1 + rng() % 8; changes > 0; --changes) {
    if (input.empty()) input.push_back(static_cast<std::uint8_t>(rng()));
    const auto at = static_cast<std::ptrdiff_t>(rng() % input.size());
    const auto end = std::min<std::ptrdiff_t>(at + 1 + static_cast<std::ptrdiff_t>(rng() % 16), std::ssize(input));
    switch (rng() % 8) {
      case 0: input.erase(input.begin() + at, input.begin() + end); break;
      case 1: {
        const Bytes piece(input.begin() + at, input.begin() + end);
        input.insert(input.begin() + at, piece.begin(), piece.end());
        break;
      }
      case 2: {
        const Bytes& other = others[rng() % others.size()];
        if (other.empty()) break;
        const std::size_t from = rng() % other.size();
        const std::size_t bytes = std::min<std::size_t>(other.size() - from, 1 + rng() % 64);
        input.insert(input.begin() + at, other.begin() + static_cast<std::ptrdiff_t>(from),
                     other.begin() + static_cast<std::ptrdiff_t>(from + bytes));
        break;
      }
      case 3:
        if (rng() % 4 == 0) input.resize(static_cast<std::size_t>(at));
        break;
      case 4: input[static_cast<std::size_t>(at)] = rng() % 2 == 0 ? 0xff : 0; break;
      case 5: input[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1U << rng() % 8); break;
      default: input[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(rng()); break;
    }
  }
  input.resize(std::min(input.size(), kLongest));
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s SECONDS FOLDER|FILE\n", argv[0]);
    return 2;
  }
  left_in = std::filesystem::path(argv[0]).filename().string() + "-input";
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) ::signal(number, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(leave_input);

  std::vector<std::filesystem::path> files;
  if (std::filesystem::is_directory(argv[2])) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[2])) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
  } else {
    files.emplace_back(argv[2]);
  }
  std::vector<Bytes> kept;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    kept.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    run(kept.back());
  }
  if (kept.empty()) {
    std::fprintf(stderr, "no input in %s\n", argv[2]);
    return 1;
  }
  std::mt19937 rng(1);  // NOLINT(cert-msc51-cpp): the same inputs in every run
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::strtol(argv[1], nullptr, 10));
  std::uint64_t runs = kept.size();
  for (; std::chrono::steady_clock::now() < end; ++runs) run(changed(kept[rng() % kept.size()], kept, rng));
  std::printf("%llu inputs, %zu of them kept\n", static_cast<unsigned long long>(runs), kept.size());
}
