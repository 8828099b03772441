// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/semantics/handlers.h"
#include "sim/error/error.h"

namespace lockstep::npu {

using enum Field;

State::State(const CoreLimits& limits, command::Storage& storage)
    : limits_(limits), storage_(storage), sram_(command::zeros<std::uint8_t>(limits.sram)) {
    if (sram_ == nullptr)
        throw InputError(
            fmt::format("an SRAM of {} bytes does not fit this computer's memory", limits.sram));
}

const WeightMatrix& State::weights(const Instruction& i) {
    WeightMatrix& matrix = weights_[i[kCore]];
    const std::span<const std::uint8_t> stream(sram(i[kWeights]), i[kWeightBytes]);
    if (!matrix.is_of(i, stream)) matrix.decode(i, stream);
    return matrix;
}

namespace {

std::string check_place(const Access& access, const CoreLimits& limits,
                        const command::Storage& storage) {
    const char* verb = access.write ? "writes" : "reads";
    if (access.space == Space::kSram) {
        if (access.end <= limits.sram) return "";
        return fmt::format("{} [{:#x}, {:#x}) of {} bytes of the SRAM", verb, access.begin,
                           access.end, limits.sram);
    }
    if (storage.find(access.space, access.begin, access.end) != nullptr) return "";
    return fmt::format("{} {}", verb, storage.explain(access.space, access.begin, access.end));
}

}  // namespace

std::string check_bounds(const Instruction& i, const CoreLimits& limits,
                         const command::Storage& storage) {
    const Footprint touched = footprint(i);
    for (const Access& access : touched.accesses())
        if (std::string wrong = check_place(access, limits, storage); !wrong.empty()) return wrong;
    if (has_field(i.opcode(), kCore) && i[kCore] >= limits.cores)
        return fmt::format("core {} of {}", i[kCore], limits.cores);
    if (time_of(i.opcode()) == Time::kNeighbours && !limits.local_response)
        return "the NPU has no unit for local response normalisation";
    if (i.flag(kKeep) || i.flag(kAccumulate)) {
        const std::uint64_t bytes = 4 * result_of(i).values();
        if (bytes > limits.accumulators)
            return fmt::format("keeps {} bytes of sums, but a core's accumulators have {}", bytes,
                               limits.accumulators);
    }
    if (has_field(i.opcode(), kWeightGroup)) {
        // The order is the same where one group holds all.
        const std::uint64_t group = i[kWeightGroup], outputs = i[kOutChannels];
        if (group != limits.outputs && (group < outputs || limits.outputs < outputs))
            return fmt::format("weights in groups of {}, but the array takes {} outputs at once",
                               group, limits.outputs);
    }
    return "";
}

void execute_interrupt_host(const Instruction& i, State& state) {
    if (state.host) state.host(static_cast<std::uint32_t>(i[kCode]));
}

void execute(const Instruction& i, State& state) {
    static constexpr void (*kExecute[])(const Instruction&, State&) = {
#define OPCODE(opcode, mnemonic, queue, time, touch, check, execute, ...) execute,
#include "isa/npu/instructions.table"
    };
    kExecute[i.number()](i, state);
}

}  // namespace lockstep::npu
