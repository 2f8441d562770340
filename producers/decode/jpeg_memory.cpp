// SPDX-License-Identifier: Apache-2.0
#include "producers/decode/jpeg_memory.hpp"

#include <cstring>

#include <jerror.h>

#include "producers/decode/arena.hpp"

// libjpeg declares this type and leaves its content to whoever implements the memory manager.
struct jvirt_barray_control {
  JBLOCKARRAY rows;  // nullptr until realized
  JDIMENSION blocks_per_row;
  JDIMENSION row_count;
  boolean pre_zero;
  jvirt_barray_ptr next;
};

namespace feedring {
namespace {

// Every function below may leave by longjmp (the library's error_exit), so none holds an object with a destructor.

JpegMemory& memory_of(j_common_ptr cinfo) { return *reinterpret_cast<JpegMemory*>(cinfo->mem); }

[[noreturn]] void fail(j_common_ptr cinfo, int code, int detail) {
  cinfo->err->msg_code = code;
  cinfo->err->msg_parm.i[0] = detail;
  cinfo->err->error_exit(cinfo);
  __builtin_unreachable();  // error_exit does not return
}

void* alloc(j_common_ptr cinfo, int /*pool*/, std::size_t bytes) {
  void* taken = memory_of(cinfo).arena->take(bytes);
  if (taken == nullptr) fail(cinfo, JERR_OUT_OF_MEMORY, 0);
  return taken;
}

// The SIMD code reads and writes whole vectors: up to two of 32 bytes past the last sample when it doubles a row
// (libjpeg-turbo rounds its rows to 64 bytes for this reason).
constexpr std::size_t kRowStep = 64;

JSAMPARRAY alloc_sarray(j_common_ptr cinfo, int pool, JDIMENSION samples_per_row, JDIMENSION row_count) {
  const std::size_t stride = (std::size_t{samples_per_row} * sizeof(JSAMPLE) + kRowStep - 1) / kRowStep * kRowStep;
  auto* rows = static_cast<JSAMPARRAY>(alloc(cinfo, pool, row_count * sizeof(JSAMPROW)));
  auto* samples = static_cast<JSAMPROW>(alloc(cinfo, pool, stride * row_count));
  for (JDIMENSION i = 0; i < row_count; ++i) rows[i] = samples + stride * i;
  return rows;
}

JBLOCKARRAY alloc_barray(j_common_ptr cinfo, int pool, JDIMENSION blocks_per_row, JDIMENSION row_count) {
  auto* rows = static_cast<JBLOCKARRAY>(alloc(cinfo, pool, row_count * sizeof(JBLOCKROW)));
  auto* blocks = static_cast<JBLOCKROW>(alloc(cinfo, pool, sizeof(JBLOCK) * blocks_per_row * row_count));
  for (JDIMENSION i = 0; i < row_count; ++i) rows[i] = blocks + std::size_t{blocks_per_row} * i;
  return rows;
}

jvirt_barray_ptr request_virt_barray(j_common_ptr cinfo, int pool, boolean pre_zero, JDIMENSION blocks_per_row,
                                     JDIMENSION row_count, JDIMENSION /*max_access*/) {
  auto* array = static_cast<jvirt_barray_ptr>(alloc(cinfo, pool, sizeof(jvirt_barray_control)));
  *array = {nullptr, blocks_per_row, row_count, pre_zero, memory_of(cinfo).requested};
  memory_of(cinfo).requested = array;
  return array;
}

void realize_virt_arrays(j_common_ptr cinfo) {
  JpegMemory& memory = memory_of(cinfo);
  for (; memory.requested != nullptr; memory.requested = memory.requested->next) {
    jvirt_barray_control& array = *memory.requested;
    array.rows = alloc_barray(cinfo, JPOOL_IMAGE, array.blocks_per_row, array.row_count);
    if (array.pre_zero) std::memset(array.rows[0], 0, sizeof(JBLOCK) * array.blocks_per_row * array.row_count);
  }
}

JBLOCKARRAY access_virt_barray(j_common_ptr cinfo, jvirt_barray_ptr array, JDIMENSION start_row, JDIMENSION row_count,
                               boolean /*writable*/) {
  if (array->rows == nullptr || row_count > array->row_count || start_row > array->row_count - row_count) {
    fail(cinfo, JERR_BAD_VIRTUAL_ACCESS, 0);
  }
  return array->rows + start_row;
}

// Whole-image sample arrays serve colour quantization, which is never asked for here.
jvirt_sarray_ptr request_virt_sarray(j_common_ptr cinfo, int, boolean, JDIMENSION, JDIMENSION, JDIMENSION) {
  fail(cinfo, JERR_NOT_COMPILED, 0);
}
JSAMPARRAY access_virt_sarray(j_common_ptr cinfo, jvirt_sarray_ptr, JDIMENSION, JDIMENSION, boolean) {
  fail(cinfo, JERR_NOT_COMPILED, 0);
}

void free_pool(j_common_ptr, int) {}
void self_destruct(j_common_ptr) {}

}  // namespace

void use_arena(j_decompress_ptr cinfo, JpegMemory& memory, Arena& arena) noexcept {
  memory = {};
  memory.face.alloc_small = alloc;
  memory.face.alloc_large = alloc;
  memory.face.alloc_sarray = alloc_sarray;
  memory.face.alloc_barray = alloc_barray;
  memory.face.request_virt_sarray = request_virt_sarray;
  memory.face.request_virt_barray = request_virt_barray;
  memory.face.realize_virt_arrays = realize_virt_arrays;
  memory.face.access_virt_sarray = access_virt_sarray;
  memory.face.access_virt_barray = access_virt_barray;
  memory.face.free_pool = free_pool;
  memory.face.self_destruct = self_destruct;
  memory.face.max_memory_to_use = static_cast<long>(arena.limit());
  memory.face.max_alloc_chunk = 1000000000L;  // libjpeg's own value; it bounds what a saved marker may take
  memory.arena = &arena;
  cinfo->mem = &memory.face;
}

}  // namespace feedring
