// SPDX-License-Identifier: Apache-2.0
// A command ISA of tables alone, smaller than any real one: three queues, words of 32 bytes.
#pragma once

#include "isa/command/builder.h"
#include "isa/command/footprint.h"

namespace lockstep::command::toy {

enum class Opcode : std::uint8_t { kHalt, kTag, kCallHost, kSyncHost, kMove, kAdd };
enum class Field : std::uint8_t {
    kWaitMove,
    kWaitAlu0,
    kWaitAlu1,
    kStep,
    kCode,
    kHost,
    kAddress,
    kBytes,
    kAlu,
    kShift,
    kScale,
    kMode,
};
enum class Queue : std::uint8_t { kMove, kAlu0, kAlu1, kSequencer };
enum class Space : std::uint8_t { kHost, kMemory, kScratchpad };

struct Isa {
    using Opcode = toy::Opcode;
    using Field = toy::Field;
    using Queue = toy::Queue;
    static const Description& description();
};
using Instruction = InstructionOf<Isa>;
using Program = ProgramOf<Instruction>;
using Builder = ProgramBuilder<Instruction>;

}  // namespace lockstep::command::toy
