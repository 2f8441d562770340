// SPDX-License-Identifier: Apache-2.0
// Episodes with their pictures for Python, beside the loader that iterates: producers/pool/episode_pictures.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace feedring::python {

void bind_episodes(nanobind::module_& module);

}  // namespace feedring::python
