# SPDX-License-Identifier: Apache-2.0
# Language, warnings, sanitizers and output folders for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# The installed tree is bin/ + libexec/feedring/; the build tree mirrors it, so that the command finds its helpers the
# same way in both.
set(FEEDRING_BIN_DIR ${PROJECT_BINARY_DIR}/bin)
set(FEEDRING_LIBEXEC_DIR ${PROJECT_BINARY_DIR}/libexec/feedring)

# feedring_target(NAME): what every target of ours gets.
function(feedring_target name)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wundef -Wimplicit-fallthrough
    # Draws and coefficients must not depend on whether the compiler fuses a multiply with an add.
    -ffp-contract=off $<$<BOOL:${FEEDRING_WERROR}>:-Werror>)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  if(FEEDRING_FAULT_POINTS)
    target_compile_definitions(${name} PRIVATE FEEDRING_FAULT_POINTS)
  endif()
  if(FEEDRING_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${FEEDRING_SANITIZE} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${name} PRIVATE -fsanitize=${FEEDRING_SANITIZE})
  endif()
endfunction()
