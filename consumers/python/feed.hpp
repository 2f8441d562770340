// SPDX-License-Identifier: Apache-2.0
// feedring::Feed for Python: waits without the GIL, ended by a signal's handler, and gives its ring back.
#pragma once

#include <nanobind/nanobind.h>

namespace feedring::python {

void bind_feed(nanobind::module_& module);

}  // namespace feedring::python
