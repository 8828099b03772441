// SPDX-License-Identifier: Apache-2.0
// LDS, STS, LDSM, STSM, ATOMS and SHFL pass the data stage once for every wavefront. Loads bring
// 128 bytes a cycle back to a sub-core; the way back that all sub-cores share takes a word for each
// lane even where lanes share it, while the banks serve the next load. Matrices go
// through the 64 bytes a cycle of global data, which explains the two cycles that each more takes
// (measured on A100: 23, 25, 29 for 1, 2, 4).
#include "models/gpu/sm/shared_memory.h"

#include <algorithm>
#include <bit>

#include "isa/sass/cluster.h"
#include "isa/sass/semantics/address.h"

namespace lockstep::gpu {

using enum MemoryOperation;

namespace {

bool is_one_address(const sass::Access& access) {
    const auto first = static_cast<unsigned>(std::countr_zero(access.lanes | 1u << 31));
    return sass::is_consecutive(access.address, access.address[first], 0, access.lanes);
}

}  // namespace

unsigned SharedMemory::pass_banks(const std::uint64_t* address, std::uint32_t lanes, unsigned width,
                                  bool is_load, BankAccess kind) {
    const unsigned wavefronts = bank_wavefronts(address, lanes, width, kind);
    const unsigned ideal = ideal_wavefronts(lanes, width);
    const unsigned beyond = wavefronts > ideal ? wavefronts - ideal : 0;
    (is_load ? counters_.shared_wavefronts_load : counters_.shared_wavefronts_store) += wavefronts;
    (is_load ? counters_.bank_conflicts_load : counters_.bank_conflicts_store) += beyond;
    return wavefronts * p_.wavefront_cycles;
}

engine::Cycle SharedMemory::serve(engine::Cycle now, const sass::RemoteOperation& operation) {
    std::uint64_t address[sass::kWarpSize];
    std::copy(std::begin(operation.offset), std::end(operation.offset), address);
    unsigned cycles = 0;
    if (operation.is_store && operation.returns) {  // an atomic
        const unsigned wavefronts = atomic_wavefronts(address, operation.lanes, operation.width);
        counters_.shared_wavefronts_store += wavefronts;
        cycles = wavefronts * p_.atomic_cycles;
    } else {
        cycles = pass_banks(address, operation.lanes, operation.width, !operation.is_store,
                            BankAccess::kPlain);
    }
    cycles = std::max(cycles, p_.wavefront_cycles);
    counters_.data_busy += cycles;
    return data_.occupy(now, cycles) + cycles;
}

/// A word for each lane takes its time on the way back of all sub-cores, while the banks serve the
/// next load. Where two SMs have one stage, they have that way in common too: words hold the stage,
/// and passes beyond theirs come on top, unless all lanes have one address.
void SharedMemory::return_words(const sass::Access& access, DataPath::Trip& trip) const {
    const unsigned bytes = access.width * sass::kWarpSize;
    const unsigned cycles = divide_up(bytes, p_.shared_return_width);
    trip.return_cycles = divide_up(bytes, kLineBytes);
    if (p_.data_stage_sms == 1 || is_one_address(access)) {
        trip.port_cycles = cycles;
        counters_.shared_way_busy += cycles;
        return;
    }
    const unsigned passes = divide_up(cycles, p_.data_stage_sms);
    trip.data_cycles = std::max(trip.data_cycles, passes);
    trip.own_cycles = cycles + trip.data_cycles - passes;
}

engine::Cycle SharedMemory::access(engine::Cycle now, const MemoryInstruction& in) {
    const sass::Access& access = in.access;
    const MemoryOperation operation = in.info->operation;
    DataPath::Trip trip{.ready = now,
                        .data_cycles = p_.wavefront_cycles,
                        .latency = p_.timing(*in.info).result,
                        .sub_core = in.sub_core,
                        .way = DataPath::Way::kShared};
    if (operation == kShuffle) {  // the crossbar of lanes alone, not the banks
        trip.data_cycles = p_.shuffle_interval;
        trip.return_cycles = divide_up(4 * sass::kWarpSize, p_.return_width);
    } else if (operation == kAtomicShared) {
        const unsigned wavefronts =
            in.info->counts_lanes
                ? bank_wavefronts(access.address, access.lanes, access.width, BankAccess::kPlain)
                : atomic_wavefronts(access.address, access.lanes, access.width);
        const unsigned ideal = ideal_wavefronts(access.lanes, access.width);
        counters_.shared_wavefronts_store += wavefronts;
        counters_.bank_conflicts_store += wavefronts - std::min(wavefronts, ideal);
        trip.data_cycles = std::max(1u, wavefronts) * p_.wavefront_cycles;
        trip.own_cycles =
            std::max(1u, wavefronts) *
            (in.info->is_swap && p_.swap_cycles != 0 ? p_.swap_cycles : p_.atomic_cycles);
    } else {
        const bool is_load = operation == kLoadShared || operation == kLoadMatrix;
        trip.data_cycles = std::max(
            p_.wavefront_cycles,
            pass_banks(access.address, access.lanes, access.width, is_load,
                       operation == kLoadShared ? BankAccess::kPacked : BankAccess::kPlain));
        if (operation == kLoadMatrix)
            trip.return_cycles = divide_up(in.info->matrices * kLineBytes, p_.return_width);
        if (operation == kLoadShared) return_words(access, trip);
    }
    counters_.data_busy += std::max(trip.data_cycles, trip.own_cycles);
    return data_.finish(trip);
}

}  // namespace lockstep::gpu
