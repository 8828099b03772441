// SPDX-License-Identifier: Apache-2.0
// Measuring a controller takes some 15 ms; a compiler and a model ask for the same machine again
// and again.
#include "models/tpu/memory_stream.h"

#include <mutex>
#include <vector>

#include "models/memory/stream/stream_rates.h"

namespace lockstep::tpu {

memory::StreamParameters memory_stream(const MemoryParameters& parameters,
                                       const DmaParameters& dma) {
    struct Measured {
        MemoryParameters parameters;
        std::uint32_t chunk;
        memory::StreamParameters stream;
    };
    static std::mutex mutex;
    static std::vector<Measured> measured;
    const std::lock_guard lock(mutex);
    for (const Measured& m : measured)
        if (m.chunk == dma.chunk && m.parameters == parameters) return m.stream;
    const memory::dram::Geometry geometry = parameters.geometry();
    const memory::StreamRates rates =
        memory::measure_streams(geometry, parameters.policies.controller(geometry), dma.chunk);
    measured.push_back({parameters,
                        dma.chunk,
                        {.read_gb_per_s = rates.read_gb_per_s,
                         .write_gb_per_s = rates.write_gb_per_s,
                         .latency_ns = rates.read_latency_ns + parameters.latency_ns,
                         .jump_ns = rates.jump_ns,
                         .turn_ns = rates.turn_ns,
                         .chunk = dma.chunk}});
    return measured.back().stream;
}

}  // namespace lockstep::tpu
