// SPDX-License-Identifier: Apache-2.0
// feedring::Error as feedring.Error.
#pragma once

#include <nanobind/nanobind.h>

namespace feedring::python {

/// Errors become the classes of feedring/errors.py, with the same words.
void bind_errors(nanobind::module_& module);

}  // namespace feedring::python
