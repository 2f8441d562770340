// SPDX-License-Identifier: Apache-2.0
// feedring._core: what the Python package needs of the consumer library. Links no torch and no NumPy.
#include <nanobind/nanobind.h>

#include "consumers/python/batch.hpp"
#include "consumers/python/errors.hpp"
#include "consumers/python/evaluation.hpp"
#include "consumers/python/feed.hpp"
#include "consumers/python/view.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The rank's side of feedring. Programs use feedring.Loader.";
  nanobind::set_leak_warnings(false);  // a program that ends with batches in its hands is none of our leaks
  module.attr("__version__") = FEEDRING_VERSION;
  feedring::python::bind_errors(module);
  feedring::python::bind_view(module);
  feedring::python::bind_batch(module);
  feedring::python::bind_feed(module);
  feedring::python::bind_evaluation(module);
}
