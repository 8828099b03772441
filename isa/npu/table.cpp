// SPDX-License-Identifier: Apache-2.0
// The rows of instructions.table as a description of a command ISA.
#include "isa/npu/table.h"

#include <array>
#include <iterator>

#include "isa/npu/footprint.h"
#include "isa/npu/operands.h"

namespace lockstep::npu {

namespace {

using enum Field;
using enum command::FieldKind;
using command::Id;
using command::OpcodeRow;

constexpr std::string_view kQueueNames[] = {"load",  "weights", "store", "core0",
                                            "core1", "core2",   "core3", "sequencer"};
constexpr std::string_view kSpaceNames[] = {"host", "memory", "sram"};
/// Of buffers: those of narrow integers are int8.
constexpr std::string_view kBufferTypes[] = {"int8", "uint8", "int16", "int32", "bf16", "fp32"};

constexpr std::string_view kTypes[] = {"int8", "uint8", "int4",  "uint4",
                                       "int2", "uint2", "int16", "int32"};
constexpr std::string_view kFormats[] = {"raw", "zero_runs", "mask", "palette", "palette_runs"};
constexpr std::string_view kRoundings[] = {"up", "away", "even", "double", "fp32"};
constexpr std::string_view kCombines[] = {"none",     "add",     "subtract",
                                          "multiply", "maximum", "minimum"};
constexpr std::string_view kForms[] = {"rescaled", "pair"};
constexpr std::string_view kBroadcasts[] = {"none", "channel", "pixel", "scalar"};
constexpr std::string_view kTables[] = {"none", "sum", "result"};
constexpr std::string_view kPools[] = {"none", "max", "average", "mean"};
constexpr std::string_view kReductions[] = {"sum", "max", "min"};
constexpr std::string_view kInterpolations[] = {
    "nearest",  "nearest_half_pixel",  "nearest_corners",
    "bilinear", "bilinear_half_pixel", "bilinear_corners"};

constexpr command::FieldRow kFieldRows[] = {
#define FIELD(field, ...) {Field::field, __VA_ARGS__},
#include "isa/npu/instructions.table"
};
static_assert(std::size(kFieldRows) <= command::kMaxFields);

template <std::size_t size>
using List = std::array<Id, size>;
constexpr List<1> listed(Field field) {
    return {field};
}
template <std::size_t size>
constexpr const List<size>& listed(const List<size>& group) {
    return group;
}
template <std::size_t... sizes>
constexpr auto join(const List<sizes>&... lists) {
    List<(sizes + ... + 0)> all{};
    [[maybe_unused]] std::size_t at = 0;
    [[maybe_unused]] const auto append = [&](const auto& list) {
        for (const Id id : list) all[at++] = id;
    };
    (append(lists), ...);
    return all;
}
/// Fields and groups of them, in order.
template <typename... Items>
constexpr auto list(const Items&... items) {
    return join(listed(items)...);
}
#define GROUP(name, ...) constexpr auto name = list(__VA_ARGS__);
#include "isa/npu/instructions.table"
/// The fields of each opcode.
#define OPCODE(opcode, mnemonic, queue, time, touch, check, execute, meaning, ...) \
    constexpr auto opcode##Fields = list(__VA_ARGS__);
#include "isa/npu/instructions.table"

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
#define OPCODE(opcode, mnemonic, queue, time, touches, checks, execute, meaning, ...) \
    {Opcode::opcode, mnemonic,       Queue::queue,      Time::time,      1, 1,        \
     meaning,        opcode##Fields, kTouchOf<touches>, kCheckOf<checks>},
#include "isa/npu/instructions.table"
};

}  // namespace

const command::Description& description() {
    static const command::Description kDescription{
        .name = "NPU",
        .source = "isa/npu/instructions.table",
        .magic{"LOCKNPU\0", 8},
        .version = 1,
        .word_bytes = kWordBytes,
        .generations = 1,
        .opcodes = kOpcodeRows,
        .fields = kFieldRows,
        .queues = kQueueNames,
        .spaces = kSpaceNames,
        .types = kBufferTypes,
        .halt = Opcode::kHalt,
        .tag = Opcode::kTag,
        .interrupt_host = Opcode::kInterruptHost,
        .sync_host = Opcode::kSyncHost,
        .step = kStep,
        .code = kCode,
        .host = kHost,
        .unit_queue = Queue::kCore0,
        .unit = kCore,
        .unordered_queue = Queue::kSequencer,  // none
    };
    return kDescription;
}

}  // namespace lockstep::npu
