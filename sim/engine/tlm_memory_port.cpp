// SPDX-License-Identifier: Apache-2.0
// Hardware: a controller's port to its memory. Loosely timed (IEEE 1666 TLM-2.0, b_transport with
// an annotated delay): the port runs ahead of SystemC's time by up to a window, which is what
// temporal decoupling is for, and the memory sees the requests in the order of their cycles.
#include "sim/engine/tlm_memory_port.h"

namespace lockstep::engine {

TlmMemoryPort::TlmMemoryPort(Simulation& owner, std::string name, ClockDomain clock,
                             std::uint32_t requests_per_cycle)
    : Tile(owner, std::move(name), clock), requests_per_cycle_(requests_per_cycle) {
    LOCKSTEP_CHECK(requests_per_cycle >= 1, "{}: takes no requests", this->name());
    owner.build_inside(*this, [this] {
        socket_ = std::make_unique<tlm_utils::simple_initiator_socket<TlmMemoryPort>>("socket");
    });
}

TlmMemoryPort::~TlmMemoryPort() = default;

void TlmMemoryPort::transport(const MemoryRequest& request, Cycle now) {
    if (scratch_.size() < request.bytes) scratch_.resize(request.bytes);
    payload_.set_command(request.write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload_.set_address(request.address);
    payload_.set_data_ptr(request.data != nullptr ? request.data : scratch_.data());
    payload_.set_data_length(request.bytes);
    payload_.set_streaming_width(request.bytes);
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    const Time systemc_now = sc_core::sc_time_stamp().value();
    // SystemC's time is that of the window's begin; in a program's own simulation it may be ahead.
    const Time window_begin = simulation().now() - simulation().window();
    sc_core::sc_time delay = sc_core::sc_time::from_value(clock().start_of(now) - window_begin);
    (*socket_)->b_transport(payload_, delay);
    LOCKSTEP_CHECK(sc_core::sc_time_stamp().value() == systemc_now,
                   "{}: the memory waited in b_transport", name());
    LOCKSTEP_CHECK(payload_.is_response_ok(), "{}: the memory answers {} to {} bytes at {:#x}",
                   name(), payload_.get_response_string(), request.bytes, request.address);
    const Cycle done = clock().first_cycle_from(window_begin + delay.value());
    pending_.push({std::max(done, now), sequence_++, {request.tag}});
}

Cycle TlmMemoryPort::advance(Cycle from, Cycle until) {
    for (Cycle now = from;;) {
        for (std::uint32_t i = 0; i < requests_per_cycle_ && requests.ready(now); ++i)
            transport(requests.receive(now), now);
        while (!pending_.empty() && pending_.top().done <= now && responses.credits(now) > 0) {
            responses.send(now, pending_.top().response);
            pending_.pop();
        }
        Cycle next = requests.next_ready();
        if (!pending_.empty()) {
            const Cycle done = pending_.top().done;
            next = std::min(next, done > now ? done : responses.next_credit(now));
        }
        now = std::max(next, now + 1);
        if (now >= until) return now;
    }
}

std::string TlmMemoryPort::explain_wait() const {
    return fmt::format("{} responses not sent, the first due at cycle {}", pending_.size(),
                       pending_.empty() ? kNever : pending_.top().done);
}

}  // namespace lockstep::engine
