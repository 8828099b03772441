// SPDX-License-Identifier: Apache-2.0
// Operations on a device that has time: what each is to the device's time line, and for which of
// them a call waits.
#pragma once

#include <vector>

#include "models/timeline.h"
#include "workloads/cuda_api/state/operation.h"

namespace lockstep::cuda {

class Context;
class GraphNode;

/// How the call that submits an operation behaves.
enum class Returns : bool {
    kWhenSubmitted,  ///< those whose names end in Async
    kWhenDone,       ///< as far as the runtime library promises it
};

/// Puts a checked operation into a stream, waits where the call does, and returns the work; a
/// graph's nodes begin as far as its edges allow.
WorkId submit_timed(Context& context, StreamId stream, const Operation& operation,
                    const std::vector<WorkId>& after, Returns returns);

}  // namespace lockstep::cuda
