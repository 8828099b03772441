// SPDX-License-Identifier: Apache-2.0
// What an operator is to quantised values.
#pragma once

#include "workloads/network/operators.h"

namespace lockstep::network {

enum class Family {
    kNone,
    kProduct,   ///< int32 sums of products of bytes
    kCombine,   ///< of several quantised values; a scale of its own
    kActivate,  ///< a table; a scale of its own
    kMove,      ///< the scale of its first operand
};

Family family_of(Operator op);

}  // namespace lockstep::network
