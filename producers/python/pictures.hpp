// SPDX-License-Identifier: Apache-2.0
// Pictures for Python without a pool: <feedring/decode.hpp>.
#pragma once

#include <nanobind/nanobind.h>

namespace feedring::python {

void bind_pictures(nanobind::module_& module);

}  // namespace feedring::python
