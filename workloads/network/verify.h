// SPDX-License-Identifier: Apache-2.0
// A machine's result against the reference executor's.
#pragma once

#include "workloads/network/tensor.h"

#include <string>

namespace lockstep::network {

/// |actual - expected| <= relative * |expected| + of_scale * (root mean square of expected). All
/// zero: the same values.
struct Tolerance {
    double relative = 0;
    double of_scale = 0;
};

struct Comparison {
    int64_t elements = 0;
    int64_t wrong = 0;
    double worst = 0;  ///< the largest difference
    std::string
        message;  ///< for a person: "" where nothing is wrong, else the first element that is

    bool passed() const { return wrong == 0; }
};

/// Compares element by element; NaN equals NaN. Of integers, differences beyond 2^53 are rounded.
/// Other shapes are wrong as a whole, other types with the same values are not.
Comparison compare(const Tensor& expected, const Tensor& actual, Tolerance tolerance = {});

}  // namespace lockstep::network
