// SPDX-License-Identifier: Apache-2.0
// Instructions with any small operands are executed on a small core after the checks that the model
// makes. The checks must let nothing through that reads or writes out of bounds.
#include <algorithm>

#include "isa/tpu/instruction.h"
#include "isa/tpu/semantics/state.h"
#include "sim/error/error.h"

using namespace lockstep;
using namespace lockstep::tpu;

namespace {

/// Elements that the instruction goes over: what would take long is left out.
bool is_short(const Instruction& i) {
    constexpr std::uint64_t kMost = 1 << 16;
    std::uint64_t work = i[Field::kRows] + 1;
    for (const Field field : {Field::kColumns, Field::kKernelHeight, Field::kKernelWidth}) {
        work *= i[field] + 1;
        if (work > kMost) return false;
    }
    return i[Field::kRows] * i[Field::kRowBytes] <= kMost && work * (i[Field::kLanes] + 1) <= kMost;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Program program;
    program.buffers.push_back({.name = "host", .space = Space::kHost, .bytes = 4096});
    program.buffers.push_back(
        {.name = "memory", .space = Space::kMemory, .bytes = 4096, .address = 256});
    Storage storage(program, true);
    CoreLimits limits{1 << 14, 64, 16, 16, 2};
    if (size != 0) limits.dataflow = static_cast<Dataflow>(data[size - 1] % 3);
    State state(limits, storage);
    // A byte for the opcode, then one a field: a small number, or that many times 64.
    while (size > 1) {
        const auto take = [&]() -> std::uint64_t {
            if (size == 0) return 0;
            --size;
            return *data++;
        };
        Instruction instruction(static_cast<Opcode>(take() % opcode_table().size()));
        for (const command::Id id : instruction.row().fields) {
            const auto field = static_cast<Field>(id);
            const std::uint64_t byte = take();
            FieldValue value = byte < 128 ? byte : (byte - 127) * 64;
            if (row(field).kind == FieldKind::kFloat) value = static_cast<float>(byte) / 16;
            if (row(field).kind == FieldKind::kSigned)
                value = static_cast<std::int64_t>(byte) - 128;
            if (row(field).kind == FieldKind::kName) value = byte % row(field).names.size();
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
