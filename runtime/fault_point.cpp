// SPDX-License-Identifier: Apache-2.0
#include "runtime/fault_point.hpp"

#ifdef FEEDRING_FAULT_POINTS

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>

namespace feedring::fault {
namespace {

constexpr int kSkip = ECANCELED;

struct Wish {
  std::size_t point = 0;
  std::string detail;
  std::uint32_t nth = 0;
  std::string action;
  std::string marker;
  std::atomic<std::uint32_t> passed = 0;
};

std::string_view role() {
  const std::string_view program = program_invocation_short_name;
  if (program == "feedring-producer") return "producer";
  return program == "feedring" ? "supervisor" : "rank";
}

[[noreturn]] void refuse(std::string_view wish) {
  std::fprintf(stderr, "FEEDRING_FAULT: '%.*s' names no fault\n", static_cast<int>(wish.size()), wish.data());
  std::_Exit(2);
}

// Cuts the part up to the separator off the front of `rest`.
std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// The wishes of this process; what is wished of others is checked and forgotten.
std::deque<Wish> read_wishes() {
  std::deque<Wish> wishes;
  const char* text = std::getenv("FEEDRING_FAULT");
  for (std::string_view all = text != nullptr ? text : ""; !all.empty();) {
    const std::string_view whole = cut(all, ';');
    std::string_view rest = whole;
    const std::string_view whose = cut(rest, ':');
    std::string_view place = cut(rest, ':');
    const std::string_view name = cut(place, '@');
    const std::string_view nth = cut(rest, ':');
    const auto* const found = std::find(std::begin(kFaultPoints), std::end(kFaultPoints), name);
    if (found == std::end(kFaultPoints) || nth.empty()) refuse(whole);
    Wish& wish = wishes.emplace_back();
    wish.point = static_cast<std::size_t>(found - std::begin(kFaultPoints));
    wish.detail = place;
    if (std::from_chars(nth.data(), nth.data() + nth.size(), wish.nth).ptr != nth.data() + nth.size()) refuse(whole);
    wish.action = cut(rest, ':');
    wish.marker = rest;
    constexpr std::string_view kActions[] = {"kill", "stop", "abort", "hang", "skip", "EIO", "ESTALE", "EAGAIN"};
    if (std::find(std::begin(kActions), std::end(kActions), wish.action) == std::end(kActions)) refuse(whole);
    if (whose != "producer" && whose != "rank" && whose != "supervisor") refuse(whole);
    if (whose != role()) wishes.pop_back();
  }
  return wishes;
}

std::deque<Wish>& wishes() {
  static auto* all = new std::deque<Wish>(read_wishes());  // never destroyed: threads pass until the process ends
  return *all;
}

std::uint64_t mask() {
  std::uint64_t bits = 0;
  for (const Wish& wish : wishes()) bits |= std::uint64_t{1} << wish.point;
  return bits;
}

// True for the first that leaves its pid there.
bool leave_mark(const std::string& marker) {
  if (marker.empty()) return true;
  const int file = ::open(marker.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const std::string pid = std::to_string(::getpid()) + '\n';
  const bool written = ::write(file, pid.data(), pid.size()) > 0;
  ::close(file);
  return written;
}

int act(const std::string& action) {
  if (action == "kill") ::kill(::getpid(), SIGKILL);
  if (action == "abort") std::abort();
  if (action == "stop") ::raise(SIGSTOP);  // this thread first: sent to the process, it could come a while later
  while (action == "hang") ::pause();
  if (action == "skip") return kSkip;
  if (action == "EIO") return EIO;
  if (action == "ESTALE") return ESTALE;
  return action == "EAGAIN" ? EAGAIN : 0;
}

}  // namespace

// Before main(), so that nothing reads the environment later, when somebody may be changing it.
std::atomic<std::uint64_t> asked = mask();

int pass(std::size_t point, std::string_view detail) noexcept {
  for (Wish& wish : wishes()) {
    if (wish.point != point || (!wish.detail.empty() && wish.detail != detail)) continue;
    const std::uint32_t passage = wish.passed.fetch_add(1, std::memory_order_relaxed) + 1;
    if ((wish.nth == 0 || wish.nth == passage) && leave_mark(wish.marker)) {
      if (const int error = act(wish.action); error != 0) return error;
    }
  }
  return 0;
}

}  // namespace feedring::fault

#endif
