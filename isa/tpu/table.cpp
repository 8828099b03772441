// SPDX-License-Identifier: Apache-2.0
// The rows of instructions.table as a description of a command ISA.
#include "isa/tpu/table.h"

#include <array>

#include "isa/tpu/operands/handlers.h"

namespace lockstep::tpu {

namespace {

using enum Field;
using enum FieldKind;
using command::Id;

constexpr std::string_view kQueueNames[] = {"load",    "store",   "weights",  "matrix0", "matrix1",
                                            "matrix2", "matrix3", "matrix4",  "matrix5", "matrix6",
                                            "matrix7", "vector",  "sequencer"};
constexpr std::string_view kSpaceNames[] = {"host", "memory", "unified_buffer", "accumulators"};
constexpr std::string_view kTypes[] = {"int8", "uint8", "int16", "int32", "bf16", "fp32"};
constexpr std::string_view kFunctions[] = {
#define FUNCTION(function, name, ...) name,
#include "isa/tpu/instructions.table"
};
constexpr FunctionRow kFunctionRows[] = {
#define FUNCTION(function, name, time, operations) {FunctionTime::time, operations},
#include "isa/tpu/instructions.table"
};
constexpr std::string_view kBroadcasts[] = {"none", "row", "column", "immediate"};
constexpr std::string_view kTaken[] = {"none", "a", "b"};
constexpr std::string_view kReductions[] = {"sum", "mean", "max", "min", "sum_of_squares"};
constexpr std::string_view kAxes[] = {"columns", "rows"};
constexpr std::string_view kPoolModes[] = {"none", "max", "average"};
constexpr std::string_view kRoundings[] = {"real", "fixed_point"};
constexpr std::string_view kDataflows[] = {"ws", "os", "is"};
constexpr std::string_view kWeightSources[] = {"memory", "unified_buffer"};

constexpr FieldRow kFieldRows[] = {
#define FIELD(field, ...) {Field::field, __VA_ARGS__},
#include "isa/tpu/instructions.table"
};
static_assert(std::size(kFieldRows) <= command::kMaxFields);

template <typename... Fields>
constexpr std::array<Id, sizeof...(Fields)> list(Fields... fields) {
    return {fields...};
}
/// The fields of each opcode.
#define OPCODE(opcode, mnemonic, queue, time, first, last, touch, check, execute, meaning, ...) \
    constexpr auto opcode##Fields = list(__VA_ARGS__);
#include "isa/tpu/instructions.table"

/// A row's functions: its instructions are this ISA's. Null where it has none.
template <void (*kTouch)(const Instruction&, Footprint&)>
void touch(const command::Instruction& instruction, Footprint& footprint) {
    kTouch(static_cast<const Instruction&>(instruction), footprint);
}
template <std::string (*kCheck)(const Instruction&)>
std::string check(const command::Instruction& instruction) {
    return kCheck(static_cast<const Instruction&>(instruction));
}
template <void (*kTouch)(const Instruction&, Footprint&)>
constexpr auto kTouchOf = kTouch == no_footprint ? nullptr : touch<kTouch>;
template <std::string (*kCheck)(const Instruction&)>
constexpr auto kCheckOf = kCheck == no_check ? nullptr : check<kCheck>;

constexpr OpcodeRow kOpcodeRows[] = {
#define OPCODE(opcode, mnemonic, queue, time, first, last, touches, checks, execute, meaning, ...) \
    {Opcode::opcode, mnemonic, Queue::queue,   Time::time,        first,                           \
     last,           meaning,  opcode##Fields, kTouchOf<touches>, kCheckOf<checks>},
#include "isa/tpu/instructions.table"
};

}  // namespace

const FunctionRow& row(Function function) {
    return kFunctionRows[static_cast<std::size_t>(function)];
}

const command::Description& description() {
    static constexpr command::Description kDescription{
        .name = "TPU",
        .source = "isa/tpu/instructions.table",
        .magic{"LOCKTPU\0", 8},
        .version = 2,
        .word_bytes = kWordBytes,
        .generations = kGenerations,
        .opcodes = kOpcodeRows,
        .fields = kFieldRows,
        .queues = kQueueNames,
        .spaces = kSpaceNames,
        .types = kTypes,
        .halt = Opcode::kHalt,
        .tag = Opcode::kTag,
        .interrupt_host = Opcode::kInterruptHost,
        .sync_host = Opcode::kSyncHost,
        .step = kStep,
        .code = kCode,
        .host = kHost,
        .unit_queue = Queue::kMatrix0,
        .unit = kUnit,
        .unordered_queue = Queue::kWeights,
    };
    return kDescription;
}

}  // namespace lockstep::tpu
