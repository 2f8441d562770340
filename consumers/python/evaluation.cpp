// SPDX-License-Identifier: Apache-2.0
#include "consumers/python/evaluation.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include <feedring/evaluation.hpp>

namespace nb = nanobind;

namespace feedring::python {
namespace {

nb::tuple to_tuple(const Summary& summary) {
  return nb::make_tuple(summary.episodes, summary.mean, summary.deviation, summary.half_width);
}

}  // namespace

void bind_evaluation(nb::module_& module) {
  nb::class_<Evaluation>(module, "Evaluation",
                         "One number for each episode, as <feedring/evaluation.hpp> describes it.")
      .def(nb::init<>())
      .def(
          "add", [](Evaluation& self, std::uint64_t ordinal, double value) { self.add(ordinal, value); },
          nb::arg("ordinal"), nb::arg("value"))
      .def("results", &Evaluation::results, "By ordinal.")
      .def(
          "summary", [](const Evaluation& self) { return to_tuple(self.summary()); },
          "(episodes, mean, deviation, half width of the 95 % interval).");
  module.def(
      "paired_difference",
      [](const Evaluation& a, const Evaluation& b) { return to_tuple(feedring::paired_difference(a, b)); },
      nb::arg("a"), nb::arg("b"), "The same of a - b, episode by episode.");
}

}  // namespace feedring::python
