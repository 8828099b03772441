// SPDX-License-Identifier: Apache-2.0
// Which machine computes which operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/network/tpu/compile.h"

namespace lockstep::network::coverage {

/// What becomes of an operator's sample on a machine.
struct Verdict {
    bool runs = false;         ///< the network runs, the operator on the core or the host
    std::vector<Operator> as;  ///< the operators that the core computes it as, each once
    std::string reason;        ///< why the host does (a part of) it, or nobody
};

/// Of a TPU of this generation; `target` is what can_lower() is asked for.
Verdict verdict_of(Operator op, const TpuTarget& target);

/// The page: a row an operator, a column a machine. A test holds operators.md to it.
std::string operators_page();

}  // namespace lockstep::network::coverage
