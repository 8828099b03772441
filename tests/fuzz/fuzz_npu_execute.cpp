// SPDX-License-Identifier: Apache-2.0
// Instructions with any small operands are executed on a small NPU after the checks that the model
// makes. The checks must let nothing through that reads or writes out of bounds.
#include <algorithm>

#include "isa/npu/semantics/state.h"
#include "sim/error/error.h"

using namespace lockstep;
using namespace lockstep::npu;

namespace {

/// What would take long is left out.
bool is_short(const Instruction& i) {
    constexpr std::uint64_t kMost = 1 << 16;
    std::uint64_t work = 1;
    for (const Field field : {Field::kOutHeight, Field::kOutWidth, Field::kHeight, Field::kWidth,
                              Field::kChannels, Field::kOutChannels, Field::kKernelHeight,
                              Field::kKernelWidth, Field::kPoolHeight, Field::kPoolWidth}) {
        work *= i[field] + 1;
        if (work > 64 * kMost) return false;
    }
    return i[Field::kRows] * i[Field::kPlanes] <= kMost;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Program program;
    program.buffers.push_back({.name = "host", .space = Space::kHost, .bytes = 4096});
    program.buffers.push_back(
        {.name = "memory", .space = Space::kMemory, .bytes = 4096, .address = 256});
    Storage storage(program, true);
    const std::uint8_t how = size != 0 ? data[size - 1] : 0;
    const CoreLimits limits{.sram = 1 << 14,
                            .accumulators = 4096,
                            .cores = 2,
                            .outputs = 8,
                            .winograd = (how & 1) != 0,
                            .local_response = true,
                            .zero_skipping = (how & 2) != 0};
    State state(limits, storage);
    for (std::uint64_t at = 0; at < limits.sram; ++at)
        *state.sram(at) = static_cast<std::uint8_t>(at * 37);
    // A byte for the opcode, then one a field: a small number, or that many times 64.
    while (size > 1) {
        const auto take = [&]() -> std::uint64_t {
            if (size == 0) return 0;
            --size;
            return *data++;
        };
        Instruction instruction(static_cast<Opcode>(take() % description().opcodes.size()));
        for (const command::Id id : instruction.row().fields) {
            const auto field = static_cast<Field>(id);
            const std::uint64_t byte = take();
            command::FieldValue value = byte < 128 ? byte : (byte - 127) * 64;
            if (row(field).kind == command::FieldKind::kSigned)
                value = (static_cast<std::int64_t>(byte) - 128) *
                        (row(field).width == 32 && byte % 2 != 0 ? 1 << 24 : 1);
            if (row(field).kind == command::FieldKind::kName)
                value = byte % row(field).names.size();
            if (Instruction::fits(field, value)) instruction.set(field, value);
        }
        LOCKSTEP_CHECK(decode(encode(instruction)).instruction == instruction,
                       "changed by its encoding");
        if (!is_short(instruction) || !check_operands(instruction).empty() ||
            !check_bounds(instruction, limits, storage).empty())
            continue;
        try {
            execute(instruction, state);
        } catch (const ProgramFault&) {
        }
    }
    return 0;
}
