// SPDX-License-Identifier: Apache-2.0
// feedring-hdf5 FILE: reads an HDF5 file for `feedring import`, which is at the other end of standard input (a socket:
// hdf5_pipe.hpp). A process of its own: what a broken file does to libhdf5 ends here.
#include <H5PLpublic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "producers/hdf5/file.hpp"
#include "producers/pack/hdf5_pipe.hpp"

namespace {

using feedring::hdf5::File;
using feedring::pack::Hdf5Frame;
using feedring::pack::Hdf5Request;
constexpr rlim_t kMemory = rlim_t{4} << 30;
constexpr rlim_t kSeconds = 10;  // of a core, for the listing and for a row: a broken file can lead in circles

/// False: the other end is gone.
bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(STDIN_FILENO, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool answer(std::string_view bytes, bool failed) {
  const Hdf5Frame frame{bytes.size(), failed ? 1U : 0U};
  return write_all({reinterpret_cast<const char*>(&frame), sizeof frame}) && write_all(bytes);
}

/// False: there is none any more.
bool take(Hdf5Request& request) {
  auto* to = reinterpret_cast<char*>(&request);
  for (std::size_t have = 0; have < sizeof request;) {
    const ssize_t got = ::read(STDIN_FILENO, to + have, sizeof request - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
  }
  return true;
}

std::string listing(const File& file) {
  static constexpr std::array<const char*, 3> kKinds = {"files", "pixels", "other"};
  nlohmann::json list = nlohmann::json::array();
  for (const File::Dataset& each : file.datasets()) {
    list.push_back({{"name", each.name},
                    {"kind", kKinds.at(static_cast<std::size_t>(each.kind))},
                    {"rows", each.rows},
                    {"shape", each.shape},
                    {"superclass", each.superclass}});
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void limit(int what, rlim_t most) {
  const rlimit both{most, most};
  (void)::setrlimit(what, &both);
}

/// Ended by SIGXCPU unless this is called again in time.
void limit_time() {
  rusage used{};
  (void)::getrusage(RUSAGE_SELF, &used);
  rlimit limits{};
  (void)::getrlimit(RLIMIT_CPU, &limits);
  limits.rlim_cur =
      std::min(limits.rlim_max, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + kSeconds);
  (void)::setrlimit(RLIMIT_CPU, &limits);
}

void serve(const char* path) {
  limit_time();
  const File file(path);
  if (!answer(listing(file), false)) return;
  std::string row;
  for (Hdf5Request request{}; take(request);) {
    limit_time();
    file.read(request.dataset, request.row, row);
    if (!answer(row, false)) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, kMemory);
  ::setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);  // which fails on file systems without it, and is of no use here
  ::unsetenv("HDF5_PLUGIN_PATH");
  (void)H5PLset_loading_state(0);  // no code because a file asks for it
  (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  try {
    serve(argv[1]);
  } catch (const std::exception& error) {
    (void)answer(error.what(), true);
  }
  return 0;
}
