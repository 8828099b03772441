// SPDX-License-Identifier: Apache-2.0
// The roofline (Williams, Waterman and Patterson, CACM 2009): no work takes less time than its
// operations at the machine's peak, nor less than its bytes at the memory's bandwidth.
#pragma once

namespace lockstep::roofline {

struct Bound {
    double seconds = 0;
    bool by_memory = false;  ///< the bytes take longer than the operations
};

/// `operations`: a multiply-add counts twice. `peak`: of them a second; `bandwidth`: bytes a
/// second; both above 0.
Bound bound(double peak, double bandwidth, double operations, double bytes);

}  // namespace lockstep::roofline
