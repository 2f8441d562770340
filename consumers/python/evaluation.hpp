// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

namespace feedring::python {

void bind_evaluation(nanobind::module_& module);

}  // namespace feedring::python
