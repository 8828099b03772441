// SPDX-License-Identifier: Apache-2.0
// A kernel as all SMs see it, and its part on one SM.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/sass/state.h"
#include "models/gpu/sm/static_info.h"
#include "sim/engine/time.h"
#include "sim/trace/trace.h"

namespace lockstep::gpu {

class SampledWaves;

/// One launch as all SMs see it; constant while it runs.
struct KernelRun {
    sass::Launch* launch = nullptr;
    const StaticTable* table = nullptr;
    std::uint32_t warps_per_cta = 0;
    std::uint32_t resident_ctas = 0;  ///< of one SM
    // Where code and constants lie in device memory.
    std::uint64_t code_address = 0, constant_address = 0;
    /// What its launch has brought to SMs that were idle: bytes of the program's code, from an
    /// offset on, and of bank 0.
    std::uint32_t prefetched_offset = 0, prefetched_bytes = 0, prefetched_parameters = 0;
    // What a CTA takes of an SM.
    std::uint32_t registers_per_cta = 0;
    std::uint64_t shared_per_cta = 0;            ///< bytes
    std::uint64_t shared_carve_out = 0;          ///< of an SM that has nothing else
    const trace::NameId* trace_names = nullptr;  ///< by code index; null: no trace
    SampledWaves* waves = nullptr;               ///< null: all CTAs are simulated
    /// The CTAs that are simulated, by their index in the grid, in order; null: all of the grid's.
    const std::vector<std::uint64_t>* ctas = nullptr;
    bool awaits_grid = false;  ///< griddepcontrol.wait waits for a kernel; changes between windows
};

/// Bytes of device memory.
struct DeviceRange {
    std::uint64_t begin = 0, bytes = 0;
};

/// A launch's kernel, without the functions that it calls.
inline DeviceRange code_of(const KernelRun& run) {
    const auto* const kernel = run.launch->program->function_at(run.launch->entry);
    if (kernel == nullptr) return {};
    return {run.code_address + std::uint64_t{kernel->first} * sass::Word::kBytes,
            std::uint64_t{kernel->count} * sass::Word::kBytes};
}

/// A kernel on one SM.
struct ResidentGrid {
    const KernelRun* run = nullptr;
    std::uint32_t ctas = 0;  ///< announced or running
    std::uint32_t line_offset = 0, constant_offset = 0;
    std::uint32_t stores_under_way = 0;  ///< and reductions that have left for L2
    engine::Cycle last_store = 0;        ///< when one was last performed
    // Counted where kernels share the chip.
    std::uint64_t instructions = 0, thread_instructions = 0;
};

/// The end of a CTA: its slot is free.
struct CtaEnd {
    engine::Cycle at = 0;
    const KernelRun* run = nullptr;
};

}  // namespace lockstep::gpu
