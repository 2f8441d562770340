// SPDX-License-Identifier: Apache-2.0
#include "consumers/python/attached.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <exception>
#include <feedring/error.hpp>
#include <map>
#include <optional>
#include <utility>

namespace feedring::python {
namespace {

std::map<std::string, std::weak_ptr<Attached>>& all() {
  static std::map<std::string, std::weak_ptr<Attached>> attached;
  return attached;
}

FeedOptions with_stream(FeedOptions options, const std::atomic<StreamHandle>& stream) {
  options.stream = [&stream] { return stream.load(); };
  return options;
}

}  // namespace

Attached::Attached(FeedOptions options)
    : device_(options.device != nullptr ? options.device->tag() : DeviceTag{}),
      feed_(Feed::attach(with_stream(std::move(options), stream_))),
      start_(feed_.state()),
      process_(::getpid()) {}

Attached::~Attached() {
  if (::getpid() != process_) return;
  // Other threads of the program go on while a busy device gets to our copies.
  std::optional<nanobind::gil_scoped_release> released;
  if (PyGILState_Check() == 1) released.emplace();
  try {
    feed_.detach();
  } catch (const std::exception&) {
    // The ring stays this process's until it ends; the next attach to the feed says so.
  }
}

std::shared_ptr<Attached> attached_before(const std::string& key, const std::string& name) {
  const auto found = all().find(key);
  if (found == all().end()) return nullptr;
  std::shared_ptr<Attached> attached = found->second.lock();
  if (attached == nullptr || attached->gone) return nullptr;
  if (attached->in_use) {
    throw Error(ErrorKind::kRefused,
                fmt::format("feed '{}' is open in another loader of this program; close that one first", name));
  }
  return attached;
}

void remember(const std::string& key, const std::shared_ptr<Attached>& attached) {
  std::erase_if(all(), [](const auto& each) { return each.second.expired(); });
  all()[key] = attached;
}

}  // namespace feedring::python
