// SPDX-License-Identifier: Apache-2.0
// What an actor allocates is part of the state: it comes from the machine, and goes with the state.
#include <cstdlib>
#include <new>

#include "tests/model/machine.hpp"

void* operator new(std::size_t bytes) {
  if (feedring::model::Machine::inside()) return feedring::model::machine().allocate(bytes);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  if (!feedring::model::Machine::owns(memory)) std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { operator delete(memory); }
