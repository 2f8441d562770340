// SPDX-License-Identifier: Apache-2.0
// libjpeg's memory manager over an Arena. The library asks its manager for everything that an image needs, up to the
// coefficients of a whole progressive image; here all of it comes from the arena of the decoder.
#pragma once

#include <cstddef>
#include <cstdio>  // jpeglib.h uses FILE without including it

#include <jpeglib.h>

namespace feedring {

class Arena;

/// What lives behind `cinfo->mem` while feedring decodes. The first member is the library's own interface (see
/// "memory management" in libjpeg's libjpeg.txt and struct jpeg_memory_mgr in jpeglib.h).
struct JpegMemory {
  jpeg_memory_mgr face;
  Arena* arena;
  jvirt_barray_ptr requested;  // whole-image arrays asked for and not yet given memory
};

/// Makes `memory` the manager of `cinfo` for one image. Requests beyond the arena's limit end in the error
/// JERR_OUT_OF_MEMORY. Pools are not told apart: whatever the library takes, also its "permanent" tables, dies with the
/// next reset of the arena, so the caller clears the pointers to them first (see begin() in jpeg.cpp).
void use_arena(j_decompress_ptr cinfo, JpegMemory& memory, Arena& arena) noexcept;

}  // namespace feedring
