// SPDX-License-Identifier: Apache-2.0
#include "models/roofline/bound.h"

#include "sim/error/error.h"

namespace lockstep::roofline {

Bound bound(const Parameters& machine, std::string_view precision, double operations,
            double bytes) {
    const double peak = machine.operations_per_second(precision);
    LOCKSTEP_CHECK(peak > 0, "{} has no peak in {}", machine.product, precision);
    const double computing = operations / peak, moving = bytes / (machine.memory_bandwidth * 1e9);
    return computing >= moving ? Bound{computing, false} : Bound{moving, true};
}

}  // namespace lockstep::roofline
