// SPDX-License-Identifier: Apache-2.0
#include "models/memory/stream/stream_rates.h"

#include <algorithm>

#include "models/memory/dram/address_map.h"

namespace lockstep::memory {

namespace {

using namespace dram;

/// Cycles until the last of `count` bursts in a row has crossed the pins.
Cycle run_stream(const Geometry& geometry, Direction direction, std::uint32_t count) {
    ControllerParameters parameters;
    // DDR3 has no per-bank refresh.
    if (geometry.timing.RFC_bank == 0) parameters.refresh = RefreshPolicy::kAllBank;
    Controller controller(geometry, parameters);
    const AddressMap map(geometry, {});
    Cycle now = 0, last = 0;
    const auto collect = [&] {
        for (const Completion& completion : controller.completions())
            last = std::max(last, completion.cycle);
        controller.clear_completions();
    };
    for (std::uint32_t i = 0; i < count; ++i) {
        const Location location =
            map.decode_in_channel(std::uint64_t{i} * geometry.organisation.burst_bytes());
        while (!controller.enqueue(direction, location, i, now)) {
            now = controller.next_event() + 1;
            controller.advance(now);
            collect();
        }
    }
    while (controller.next_event() != kNever) controller.advance(controller.next_event() + 1);
    collect();
    return last;
}

}  // namespace

StreamRates measure_streams(const Geometry& geometry) {
    constexpr std::uint32_t kBursts = 20000;
    const double bytes = double(kBursts) * geometry.organisation.burst_bytes() * geometry.channels;
    const double cycle_ns = 1e6 / double(geometry.clock_khz);
    const auto rate = [&](Direction direction) {
        return bytes / (double(run_stream(geometry, direction, kBursts)) * cycle_ns);
    };
    return {.read_gb_per_s = rate(Direction::kRead),
            .write_gb_per_s = rate(Direction::kWrite),
            .read_latency_ns = double(run_stream(geometry, Direction::kRead, 1)) * cycle_ns};
}

}  // namespace lockstep::memory
