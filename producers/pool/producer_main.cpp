// SPDX-License-Identifier: Apache-2.0
// feedring-producer: what the supervisor starts unless the configuration names another program.
#include <feedring/producer.hpp>

int main(int argc, char** argv) { return feedring::run_producer(argc, argv, nullptr); }
