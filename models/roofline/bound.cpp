// SPDX-License-Identifier: Apache-2.0
#include "models/roofline/bound.h"

#include "sim/error/error.h"

namespace lockstep::roofline {

Bound bound(double peak, double bandwidth, double operations, double bytes) {
    LOCKSTEP_CHECK(peak > 0 && bandwidth > 0, "a roof of {} operations and {} bytes a second", peak,
                   bandwidth);
    const double computing = operations / peak, moving = bytes / bandwidth;
    return computing >= moving ? Bound{computing, false} : Bound{moving, true};
}

}  // namespace lockstep::roofline
