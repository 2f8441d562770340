// SPDX-License-Identifier: Apache-2.0
// Everything of the contract that two processes must agree on, as text: one line a constant, a size or a field.
#pragma once

#include <string>

namespace feedring::test {

/// Without the protocol number, so that the same text means the same contract.
std::string dump_contract();

}  // namespace feedring::test
