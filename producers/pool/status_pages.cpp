// SPDX-License-Identifier: Apache-2.0
#include "producers/pool/status_pages.hpp"

#include <array>
#include <feedring/error.hpp>
#include <string>
#include <utility>

namespace feedring {
namespace {

using nlohmann::json;

// Rings come last: they alone become more while a pool lives, and so no entry changes its place between two pages.
using Lists = std::array<json::json_pointer, 8>;
const Lists& lists() {
  static const Lists places = {json::json_pointer("/feeds"),         json::json_pointer("/memory/feeds"),
                               json::json_pointer("/memory/stores"), json::json_pointer("/memory/seek_indices"),
                               json::json_pointer("/stores"),        json::json_pointer("/seek_indices"),
                               json::json_pointer("/producers"),     json::json_pointer("/rings")};
  return places;
}

// As send_message writes it.
std::size_t bytes_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace).size(); }

}  // namespace

std::uint64_t first_entry(const json& request) {
  const auto from = request.find("from");
  if (from == request.end()) return 0;
  if (!from->is_number_unsigned())
    throw Error(ErrorKind::kRefused, "a status request says from which entry on by a number from 0");
  return from->get<std::uint64_t>();
}

json status_page(json status, std::uint64_t from, std::size_t most_bytes) {
  std::array<json, std::tuple_size_v<Lists>> all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (status.contains(lists()[i])) all[i] = std::exchange(status[lists()[i]], json::array());
  }
  std::size_t bytes = bytes_of(status) + bytes_of({{"more", UINT64_MAX}});
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (json& entry : all[i]) {
      if (number++ < from) continue;
      bytes += bytes_of(entry) + 1;  // and its comma
      if (bytes > most_bytes && number - 1 > from) {
        status["more"] = number - 1;
        return status;
      }
      status[lists()[i]].push_back(std::move(entry));
    }
  }
  return status;
}

json join_status(const std::function<json(std::uint64_t from)>& ask) {
  json whole = ask(0);
  std::uint64_t from = 0;
  while (whole.contains("more")) {
    const std::uint64_t next = whole.value("more", std::uint64_t{0});
    if (next <= from) throw Error(ErrorKind::kRefused, "the pool's status does not go on where it said it would");
    from = next;
    json page = ask(from);
    for (const auto& list : lists()) {
      if (!page.contains(list)) continue;
      for (json& entry : page[list]) whole[list].push_back(std::move(entry));
    }
    whole.erase("more");
    if (page.contains("more")) whole["more"] = page["more"];
  }
  return whole;
}

}  // namespace feedring
