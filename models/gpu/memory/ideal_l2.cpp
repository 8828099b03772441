// SPDX-License-Identifier: Apache-2.0
// A slice of a perfect L2 (`ideal.l2`): it has every line, valid, and writes nothing back, so that
// DRAM is never used. Ports, latencies, atomics and the way to the other part of L2 cost what they
// cost; reads are served in the near part, as of lines that have a copy there.
#include <bit>

#include "models/gpu/memory/l2_slice.h"

namespace lockstep::gpu {

void L2Slice::handle_ideal(engine::Cycle now, const SliceRequest& request) {
    const MemoryRequest& asked = request.routed.request;
    const auto sectors = static_cast<std::uint32_t>(std::popcount(asked.sectors));
    L2Line line{.valid = kAllSectors};
    if (asked.kind == RequestKind::kRead) {
        counters_.sectors_read_hit += sectors;
        serve(now, request, line);
    } else if (request.routed.home != partition_) {
        pass_to_home(now, request);
    } else if (asked.kind != RequestKind::kWrite) {
        serve(now, request, line);
    } else {
        counters_.sectors_write_hit += sectors;
        answer(occupy(now, write_time(asked)), request);
    }
}

}  // namespace lockstep::gpu
