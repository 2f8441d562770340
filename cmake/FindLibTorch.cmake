# SPDX-License-Identifier: Apache-2.0
# LibTorch without its own package file, which would pull in CUDA, protobuf and a wrong libtorch where two are installed:
# headers, libtorch_cpu and libc10 are all that tensor views and a CPU trainer need. Looks for Debian's libtorch-dev, or
# in FEEDRING_TORCH_ROOT (…/site-packages/torch) if that is set. Defines LibTorch::LibTorch.
if(FEEDRING_TORCH_ROOT)
  set(LibTorch_where PATHS ${FEEDRING_TORCH_ROOT}/include ${FEEDRING_TORCH_ROOT}/lib NO_DEFAULT_PATH)
endif()
find_path(LibTorch_API_INCLUDE_DIR torch/torch.h ${LibTorch_where} PATH_SUFFIXES torch/csrc/api/include)
find_path(LibTorch_INCLUDE_DIR ATen/core/Tensor.h ${LibTorch_where})
find_library(LibTorch_CPU_LIBRARY torch_cpu ${LibTorch_where})
find_library(LibTorch_C10_LIBRARY c10 ${LibTorch_where})
mark_as_advanced(LibTorch_API_INCLUDE_DIR LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY)

if(FEEDRING_TORCH_ROOT AND NOT LibTorch_CPU_LIBRARY)
  message(FATAL_ERROR "FEEDRING_TORCH_ROOT: there is no libtorch_cpu.so in ${FEEDRING_TORCH_ROOT}/lib")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS
  LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR LibTorch_API_INCLUDE_DIR)
if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch INTERFACE ${LibTorch_INCLUDE_DIR} ${LibTorch_API_INCLUDE_DIR})
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_CPU_LIBRARY} ${LibTorch_C10_LIBRARY})
  if(FEEDRING_TORCH_ROOT)
    # A wheel's libtorch_cpu names CUDA libraries that a CPU program never calls.
    target_link_options(LibTorch::LibTorch INTERFACE LINKER:--allow-shlib-undefined)
  endif()
endif()
