// SPDX-License-Identifier: Apache-2.0
// A busy-until server: the bus is taken for bytes / bandwidth. Fractions of picoseconds are kept,
// so that many short transfers take as long as one long one.
#include "models/memory/stream/stream_memory.h"

#include <algorithm>
#include <cmath>

namespace lockstep::memory {

StreamMemory::StreamMemory(sc_core::sc_module_name name, const StreamParameters& parameters)
    : sc_module(name), parameters_(parameters) {
    socket.register_b_transport(this, &StreamMemory::b_transport);
}

void StreamMemory::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const bool write = payload.is_write();
    const double arrival = static_cast<double>(sc_core::sc_time_stamp().value() + delay.value());
    const double gb_per_s = write ? parameters_.write_gb_per_s : parameters_.read_gb_per_s;
    constexpr double kPicosecondsPerNanosecond = 1000;
    double& free_at = free_at_ps_[parameters_.duplex && write ? 1 : 0];
    double ns = double(payload.get_data_length()) / gb_per_s;
    Stream &own = streams_[write ? 1 : 0], &other = streams_[write ? 0 : 1];
    // Who finds the other direction still at work takes turns with it, whatever the order of the
    // calls. A bus that has stood idle has had time to turn round and to open rows.
    if (!parameters_.duplex) {
        const double share =
            std::min(1.0, double(payload.get_data_length()) /
                              double(std::max<std::uint64_t>(1, parameters_.chunk)));
        if (other.ends_ps > arrival)
            ns += parameters_.turn_ns * share;
        else if (free_at > arrival && payload.get_address() != own.end)
            ns += parameters_.jump_ns * share;
    }
    free_at = std::max(free_at, arrival) + ns * kPicosecondsPerNanosecond;
    own = {payload.get_address() + payload.get_data_length(), free_at};
    const double done = free_at + parameters_.latency_ns * kPicosecondsPerNanosecond;
    delay += sc_core::sc_time::from_value(
        static_cast<sc_core::sc_time::value_type>(std::llround(done - arrival)));
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace lockstep::memory
