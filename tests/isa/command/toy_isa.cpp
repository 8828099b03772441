// SPDX-License-Identifier: Apache-2.0
#include "tests/isa/command/toy_isa.h"

namespace lockstep::command::toy {

namespace {

using enum Field;
using enum FieldKind;

constexpr std::string_view kQueues[] = {"move", "alu0", "alu1", "sequencer"};
constexpr std::string_view kSpaces[] = {"host", "memory", "scratchpad"};
constexpr std::string_view kTypes[] = {"int8", "uint8", "int16", "int32", "bf16", "fp32"};
constexpr std::string_view kModes[] = {"wrap", "saturate"};

constexpr FieldRow kFields[] = {
    {kWaitMove, "wait_move", kUnsigned, 8, "wait for the d-th latest of `move`"},
    {kWaitAlu0, "wait_alu0", kUnsigned, 8, "wait for the d-th latest of `alu0`"},
    {kWaitAlu1, "wait_alu1", kUnsigned, 8, "wait for the d-th latest of `alu1`"},
    {kStep, "step", kUnsigned, 32, "index into the program's steps"},
    {kCode, "code", kUnsigned, 32, "number of a host task"},
    {kHost, "host", kHex, 48, "host address, bytes"},
    {kAddress, "address", kHex, 32, "scratchpad address, bytes"},
    {kBytes, "bytes", kUnsigned, 16, "bytes"},
    {kAlu, "alu", kUnsigned, 1, "which ALU"},
    {kShift, "shift", kSigned, 6, "shift of the result"},
    {kScale, "scale", kFloat, 32, "factor of the result"},
    {kMode, "mode", kName, 1, "arithmetic", kModes},
};

constexpr Id kStepFields[] = {kStep}, kCodeFields[] = {kCode};
constexpr Id kMoveFields[] = {kHost, kAddress, kBytes};
constexpr Id kAddFields[] = {kAlu, kAddress, kBytes, kShift, kScale, kMode};

const Instruction& own(const command::Instruction& instruction) {
    return static_cast<const Instruction&>(instruction);
}

void touch_move(const command::Instruction& instruction, Footprint& footprint) {
    const Instruction& i = own(instruction);
    footprint.add(Space::kHost, false, i[kHost], i[kHost] + i[kBytes]);
    footprint.add(Space::kScratchpad, true, i[kAddress], i[kAddress] + i[kBytes]);
}
void touch_add(const command::Instruction& instruction, Footprint& footprint) {
    const Instruction& i = own(instruction);
    for (const bool write : {false, true})
        footprint.add(Space::kScratchpad, write, i[kAddress], i[kAddress] + i[kBytes]);
}
std::string check_add(const command::Instruction& instruction) {
    return own(instruction)[kBytes] % 2 == 0 ? "" : "bytes that are no whole elements";
}

constexpr OpcodeRow kOpcodes[] = {
    {Opcode::kHalt, "halt", Queue::kSequencer, {}, 1, 2, "ends the program", {}},
    {Opcode::kTag, "tag", Queue::kSequencer, {}, 1, 2, "begins a step", kStepFields},
    {Opcode::kCallHost, "call_host", Queue::kSequencer, {}, 1, 2, "begins a task", kCodeFields},
    {Opcode::kSyncHost, "sync_host", Queue::kSequencer, {}, 1, 2, "waits for it", kCodeFields},
    {Opcode::kMove, "move", Queue::kMove, {}, 1, 2, "host to scratchpad", kMoveFields, touch_move},
    {Opcode::kAdd,
     "add",
     Queue::kAlu0,
     {},
     2,
     2,
     "adds in place",
     kAddFields,
     touch_add,
     check_add},
};

}  // namespace

const Description& Isa::description() {
    static constexpr Description kDescription{
        .name = "toy",
        .source = "toy_isa.cpp",
        .magic{"LOCKTOY\0", 8},
        .version = 3,
        .word_bytes = 32,
        .generations = 2,
        .opcodes = kOpcodes,
        .fields = kFields,
        .queues = kQueues,
        .spaces = kSpaces,
        .types = kTypes,
        .halt = Opcode::kHalt,
        .tag = Opcode::kTag,
        .interrupt_host = Opcode::kCallHost,
        .sync_host = Opcode::kSyncHost,
        .step = kStep,
        .code = kCode,
        .host = kHost,
        .unit_queue = Queue::kAlu0,
        .unit = kAlu,
        .unordered_queue = Queue::kSequencer,
    };
    return kDescription;
}

}  // namespace lockstep::command::toy
