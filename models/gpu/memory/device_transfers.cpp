// SPDX-License-Identifier: Apache-2.0
// A copy reads a stream and writes another, as many lines ahead as the controller's queues hold; L2
// gathers the writes. DRAM is the narrowest place by far: what copies within a chip reach is the
// share of its bandwidth that turns of the bus, opened rows and refresh leave. Left out: what the
// L2 holds already (a small copy takes a few launch latencies anyway). This is a transfer by
// itself; beside kernels it is traffic on the chip (MemorySystem::carry).
#include "models/gpu/memory/device_transfers.h"

#include <algorithm>

#include "models/memory/dram/address_map.h"
#include "models/memory/dram/controller.h"

namespace lockstep::gpu {

namespace dram = memory::dram;

namespace {

/// Bursts of a channel that are simulated one by one: several refresh intervals.
constexpr std::uint64_t kBursts = 1 << 15;
/// Of them, those after which the rate is steady.
constexpr std::uint64_t kWarmUp = 1 << 13;

engine::Time time_of_clocks(dram::Cycle clocks, std::uint64_t khz) {
    return static_cast<engine::Time>(static_cast<double>(clocks) * 1e9 / static_cast<double>(khz));
}

}  // namespace

engine::Time DeviceTransfers::run(std::uint64_t bursts, bool is_copy) {
    const auto [known, is_new] = known_.try_emplace({bursts, is_copy});
    if (!is_new) return known->second;
    dram::Controller controller(parameters_.dram, parameters_.controller(0));
    const dram::AddressMap map(parameters_.dram, {.interleave_bytes = parameters_.interleave});
    const std::uint64_t size = parameters_.dram.organisation.burst_bytes();
    // The two streams lie in different halves of the channel.
    const std::uint64_t half = map.bytes() / map.channels() / 2 / size * size;
    dram::Cycle now = 0, last = 0;
    std::uint64_t read = 0, arrived = is_copy ? 0 : bursts, written = 0, done = 0;
    while (done < bursts) {
        while (
            is_copy && read < bursts &&
            controller.enqueue(dram::Direction::kRead, map.decode_in_channel(read * size), 0, now))
            ++read;
        while (written < arrived &&
               controller.enqueue(dram::Direction::kWrite,
                                  map.decode_in_channel(half + written * size), 1, now))
            ++written;
        const dram::Cycle next = controller.next_event();
        if (next == dram::kNever) break;  // what is left in the write queue is in L2's hands
        now = std::max(now, next) + 1;
        controller.advance(now);
        for (const dram::Completion& completion : controller.completions()) {
            last = std::max(last, completion.cycle);
            ++(completion.id == 0 ? arrived : done);
        }
        controller.clear_completions();
    }
    return known->second = time_of_clocks(last, parameters_.dram.clock_khz);
}

engine::Time DeviceTransfers::time_of(std::uint64_t bytes, bool is_copy) {
    if (bytes == 0) return 0;
    const std::uint64_t in_all = parameters_.dram.organisation.burst_bytes() *
                                 static_cast<std::uint64_t>(parameters_.dram.channels);
    const std::uint64_t bursts = (bytes + in_all - 1) / in_all;
    const engine::Cycle ways = parameters_.request_latency + parameters_.slice_latency +
                               parameters_.reply_latency + parameters_.dram_request_latency +
                               parameters_.dram_reply_latency;
    const engine::Time latency = parameters_.clock.start_of(is_copy ? 2 * ways : ways);
    if (bursts <= kBursts) return latency + run(bursts, is_copy);
    const engine::Time first = run(kWarmUp, is_copy), whole = run(kBursts, is_copy);
    const double rate = static_cast<double>(whole - first) / (kBursts - kWarmUp);
    return latency + whole +
           static_cast<engine::Time>(static_cast<double>(bursts - kBursts) * rate);
}

}  // namespace lockstep::gpu
