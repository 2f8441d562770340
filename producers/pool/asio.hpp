// SPDX-License-Identifier: Apache-2.0
// Boost.Asio 1.74 uses std::exchange without including <utility>, which C++20 on g++ 12 does not forgive. Include this
// header and no asio header anywhere else.
#pragma once

// Its fences order nothing here, since the supervisor is one thread, and the race detector does not understand them.
#define BOOST_ASIO_DISABLE_FENCED_BLOCK

#include <utility>
// clang-format off
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
// clang-format on
