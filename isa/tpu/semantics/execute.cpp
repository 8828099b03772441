// SPDX-License-Identifier: Apache-2.0
#include "isa/command/disassembler.h"
#include "isa/tpu/semantics/handlers.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

State::State(const CoreLimits& limits, Storage& storage)
    : limits_(limits),
      storage_(storage),
      unified_buffer_(zeros<std::uint8_t>(limits.unified_buffer)),
      accumulators_(
          zeros<std::uint32_t>(std::size_t{limits.accumulator_rows} * limits.array_columns)) {
    if (unified_buffer_ == nullptr || accumulators_ == nullptr)
        throw InputError(
            fmt::format("a unified buffer of {} bytes and {} accumulators of {} do "
                        "not fit this computer's memory",
                        limits.unified_buffer, limits.accumulator_rows, limits.array_columns));
}

std::string check_bounds(const Instruction& i, const CoreLimits& limits, const Storage& storage) {
    const Footprint touched = footprint(i);
    for (const Access& access : touched.accesses()) {
        if (access.space == Space::kUnifiedBuffer || access.space == Space::kAccumulators) {
            const bool buffer = access.space == Space::kUnifiedBuffer;
            const std::uint64_t size = buffer ? limits.unified_buffer : limits.accumulator_rows;
            if (access.end > size)
                return fmt::format("{} [{:#x}, {:#x}) of {} {} of the {}",
                                   access.write ? "writes" : "reads", access.begin, access.end,
                                   size, buffer ? "bytes" : "rows",
                                   buffer ? "unified buffer" : "accumulators");
        } else if (storage.find(access.space, access.begin, access.end) == nullptr) {
            return fmt::format("{} {}", access.write ? "writes" : "reads",
                               storage.explain(access.space, access.begin, access.end));
        }
    }
    const Time time = time_of(i.opcode());
    const bool array = time == Time::kStream || time == Time::kTile;
    if (array && i[Field::kUnit] >= limits.matrix_units)
        return fmt::format("matrix unit {} of {}", i[Field::kUnit], limits.matrix_units);
    if (array && i[Field::kLanes] > limits.array_rows)
        return fmt::format("{} lanes, but the array has {} rows", i[Field::kLanes],
                           limits.array_rows);
    if (time == Time::kStream) {
        constexpr std::string_view kHeld[] = {"weights", "sums", "inputs"};
        const Dataflow dataflow = dataflow_of(i);
        if (dataflow != limits.dataflow)
            return fmt::format("dataflow={}, but the array holds {}",
                               row(Field::kDataflow).names[i[Field::kDataflow]],
                               kHeld[static_cast<std::size_t>(limits.dataflow)]);
        const bool sums = dataflow == Dataflow::kOutputStationary;
        const std::uint32_t most = sums ? limits.array_rows : limits.array_columns;
        if (dataflow != Dataflow::kWeightStationary && i[Field::kRows] > most)
            return fmt::format("{} rows, but the array has {} {}", i[Field::kRows], most,
                               sums ? "rows" : "columns");
    }
    const bool transposed = i.opcode() == Opcode::kActivate && i.flag(Field::kTransposed);
    if (transposed && i[Field::kRows] > limits.array_columns)
        return fmt::format("{} transposed rows, but the accumulators have {} columns",
                           i[Field::kRows], limits.array_columns);
    if (i.opcode() == Opcode::kTranspose) {
        // Rows that lie upon each other could be more than there is room for.
        const std::uint64_t bytes =
            i[Field::kRows] * i[Field::kColumns] * size_of(i.type(Field::kType));
        if (bytes > limits.unified_buffer)
            return fmt::format("transposes {} bytes of a unified buffer of {}", bytes,
                               limits.unified_buffer);
    }
    const bool accumulators = array || has_field(i.opcode(), Field::kAccumulator);
    if (accumulators && !transposed && i[Field::kColumns] > limits.array_columns)
        return fmt::format("{} columns, but the array and its accumulators have {}",
                           i[Field::kColumns], limits.array_columns);
    return "";
}

namespace {

/// Whether the instruction only works on rows, of which it has none or empty ones. A reduction
/// of nothing still writes its result, and matrix instructions take tiles.
bool is_empty(const Instruction& i) {
    const Time time = time_of(i.opcode());
    return (time == Time::kElements || time == Time::kWindows || time == Time::kTranspose) &&
           (i[Field::kRows] == 0 || i[Field::kColumns] == 0);
}

}  // namespace

void execute_interrupt_host(const Instruction& i, State& state) {
    if (state.host) state.host(static_cast<std::uint32_t>(i[Field::kCode]));
}

void execute(const Instruction& i, State& state) {
    static constexpr void (*kExecute[])(const Instruction&, State&) = {
#define OPCODE(opcode, mnemonic, queue, time, first, last, touch, check, execute, ...) execute,
#include "isa/tpu/instructions.table"
    };
    if (!is_empty(i)) kExecute[i.number()](i, state);
    if (i.queue() == Queue::kVector && !i.flag(Field::kKeeps)) state.kept.clear();
}

}  // namespace lockstep::tpu
