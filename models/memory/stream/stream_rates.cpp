// SPDX-License-Identifier: Apache-2.0
#include "models/memory/stream/stream_rates.h"

#include <algorithm>
#include <array>
#include <span>

#include "models/memory/dram/address_map.h"

namespace lockstep::memory {

namespace {

using namespace dram;

/// Enough for several refresh intervals.
constexpr std::uint32_t kBursts = 20000;
/// From one stream's first byte in a channel to the next one's: no whole number of rows of banks.
constexpr std::uint64_t kStreamDistance = 37 << 20;

/// One channel, and what its controller needs for all of `count` bursts that the streams ask for
/// in turns of `turn` bursts.
class Channel {
  public:
    Channel(const Geometry& geometry, const ControllerParameters& parameters)
        : geometry_(geometry), map_(geometry, {}), parameters_(parameters) {}

    /// Nanoseconds until the last burst has crossed the pins.
    double run(std::span<const Direction> streams, std::uint64_t turn, std::uint64_t count) const {
        Controller controller(geometry_, parameters_);
        std::array<std::uint64_t, 2> position{};
        Cycle now = 0, last = 0;
        const auto collect = [&] {
            for (const Completion& completion : controller.completions())
                last = std::max(last, completion.cycle);
            controller.clear_completions();
        };
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::size_t stream = i / turn % streams.size();
            const std::uint64_t address = stream * kStreamDistance +
                                          position[stream]++ * geometry_.organisation.burst_bytes();
            while (!controller.enqueue(streams[stream], map_.decode_in_channel(address), i, now)) {
                now = controller.next_event() + 1;
                controller.advance(now);
                collect();
            }
        }
        while (controller.next_event() != kNever) controller.advance(controller.next_event() + 1);
        collect();
        return double(last) * 1e6 / double(geometry_.clock_khz);
    }

  private:
    const Geometry geometry_;
    const AddressMap map_;
    const ControllerParameters parameters_;
};

}  // namespace

StreamRates measure_streams(const Geometry& geometry, RefreshPolicy refresh, std::uint64_t chunk) {
    ControllerParameters controller;
    controller.refresh = refresh;
    return measure_streams(geometry, controller, chunk);
}

StreamRates measure_streams(const Geometry& geometry, const ControllerParameters& controller,
                            std::uint64_t chunk) {
    using enum Direction;
    const Channel channel(geometry, controller);
    const double bytes = double(kBursts) * geometry.organisation.burst_bytes() * geometry.channels;
    const std::uint64_t turn =
        std::max<std::uint64_t>(1, chunk / geometry.channels / geometry.organisation.burst_bytes());
    const double reads = channel.run(std::array{kRead}, turn, kBursts),
                 writes = channel.run(std::array{kWrite}, turn, kBursts);
    const double switches = double(std::max<std::uint64_t>(1, (kBursts - 1) / turn));
    const auto cost = [&](Direction second, double alone) {
        const double both = channel.run(std::array{kRead, second}, turn, kBursts);
        return std::max(0.0, both - alone) / switches;
    };
    return {.read_gb_per_s = bytes / reads,
            .write_gb_per_s = bytes / writes,
            .read_latency_ns = channel.run(std::array{kRead}, 1, 1),
            .jump_ns = cost(kRead, reads),
            .turn_ns = cost(kWrite, (reads + writes) / 2)};
}

StreamRates measure_streams(const Geometry& geometry) {
    constexpr std::uint64_t kChunk = 64 << 10;
    return measure_streams(
        geometry, geometry.timing.RFC_bank == 0 ? RefreshPolicy::kAllBank : RefreshPolicy::kPerBank,
        kChunk);
}

}  // namespace lockstep::memory
