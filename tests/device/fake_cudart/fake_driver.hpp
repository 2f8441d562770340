// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace feedring::test {

/// The driver's function of that name; null where the stand-in has none.
void* driver_entry_point(const char* name);

/// fake_cudart.cpp: puts work on a stream, with all that a call has to do first; CUDA's status.
int put_on_stream(void* stream, std::function<void()> work);

}  // namespace feedring::test
