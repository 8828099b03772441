// SPDX-License-Identifier: Apache-2.0
// Memory instructions are in static_memory.cpp, Tensor Cores' in static_tensor.cpp.
#include "models/gpu/sm/static_info.h"

#include <algorithm>
#include <cmath>

#include "isa/sass/system_call.h"
#include "isa/sass/table/op.h"
#include "isa/sass/table/table.h"
#include "models/gpu/sm/operation_class.h"

namespace lockstep::gpu {

using sass::Op;
using sass::Word;

void StaticTable::describe(const sass::Program& program, std::uint32_t first, std::uint32_t count) {
    constexpr std::size_t kKinds = 3;  // of a generic instruction
    // What runs points to entries while more are described: they never move.
    memory_.reserve(std::max(memory_.capacity(), kKinds * program.code().size()));
    instructions_.resize(std::max<std::size_t>(instructions_.size(), program.code().size()));
    for (std::uint32_t i = first; i < first + count; ++i) instructions_[i] = describe(program, i);
}

void StaticTable::describe_operands(StaticInstruction& in, std::span<const sass::RegisterUse> uses,
                                    std::uint8_t reuse) const {
    for (const sass::RegisterUse& use : uses) {
        if (use.file == sass::RegisterFile::kConstant) {
            in.reads_constant = in.kind != InstructionKind::kMemory;  // LDC has a cache of its own
            in.constant_line = static_cast<std::uint32_t>(use.number) << 16 | use.offset;
            in.constant_line /= parameters_.constant_line;
        }
        if (use.is_write || use.file != sass::RegisterFile::kVector) continue;
        const auto slot = static_cast<unsigned>(use.slot);
        if (slot > 2 || in.operands == 3) continue;
        // The Tensor Cores read and write a warpgroup's sums slice by slice, long after issue.
        if (in.kind == InstructionKind::kWarpgroupProduct && slot == 2) continue;
        in.operand[in.operands++] = {use.number, use.count, static_cast<std::uint8_t>(slot),
                                     (reuse >> slot & 1) != 0};
    }
}

/// Instructions whose time is not that of their class alone.
void StaticTable::describe_control(StaticInstruction& in, const Word& word, sass::Arch arch) const {
    switch (sass::op_of(word)) {
        case Op::kExit:
            in.kind = InstructionKind::kExit;
            break;
        case Op::kBar:
        case Op::kUcgabarArv:
        case Op::kUsetmaxreg:  // lets warps go that wait for registers
            in.kind = InstructionKind::kBarrier;
            break;
        case Op::kBsync:
            in.latency = static_cast<std::uint16_t>(parameters_.bsync_latency);
            break;
        case Op::kMembar:
            in.kind = InstructionKind::kMembar;
            // Scope in bits 76-78: CTA, SM, GPU, SYS.
            in.latency =
                static_cast<std::uint16_t>(word.bits(76, 3) <= 1   ? parameters_.membar_cta
                                           : word.bits(76, 3) == 2 ? parameters_.membar_gpu
                                                                   : parameters_.membar_sys);
            in.limit = word.bits(76, 3) >= 2;  // waits for stores to be performed at L2
            break;
        case Op::kDepbar:
            in.kind = InstructionKind::kDependencyBarrier;
            in.counter = static_cast<std::uint8_t>(word.bits(44, 3));
            in.limit = static_cast<std::uint8_t>(word.bit(47) ? word.bits(38, 6) : kCounterMax);
            in.wait_mask |= static_cast<std::uint8_t>(word.bits(32, 6));
            break;
        case Op::kLdgdepbar:
            in.kind = InstructionKind::kCopyGroup;
            in.counter = in.write_barrier % kCounters;
            in.closes_copies = true;
            break;
        case Op::kArrives:
            in.kind = InstructionKind::kCopyArrive;
            in.closes_copies = true;
            in.changes_mbarrier = arch >= 90;
            break;
        case Op::kUtmacmdflush:
            in.kind = InstructionKind::kBulkGroup;
            in.counter = in.read_barrier % kCounters;
            break;
        case Op::kSyncs: {
            constexpr unsigned kTryWait = 72;
            in.reads_mbarrier = word.form() == 2;  // phase check
            in.is_phase_check = in.reads_mbarrier;
            in.is_try_wait = in.reads_mbarrier && word.bit(kTryWait);
            in.changes_mbarrier = !in.reads_mbarrier;
            in.latency = static_cast<std::uint16_t>(parameters_.mbarrier_latency);
            break;
        }
        case Op::kLds:  // how code of sm_80 reads an mbarrier
            in.reads_mbarrier = arch >= 80 && arch < 90;
            break;
        case Op::kPreexit:
            in.kind = InstructionKind::kTrigger;
            break;
        case Op::kAcqbulk:
            in.waits_for_grid = true;
            break;
        case Op::kNanosleep: {
            constexpr unsigned kSyncs = 84;
            in.kind = InstructionKind::kSleep;
            in.waits_for_phase = arch >= 90 && word.bit(kSyncs);
            break;
        }
        case Op::kCctl:
            in.kind = InstructionKind::kInvalidate;
            break;
        default:
            break;
    }
}

StaticInstruction StaticTable::describe(const sass::Program& program, std::uint32_t index) {
    const Word& word = program.words()[index];
    const Op op = sass::op_of(word);
    const sass::Control control = sass::Control::of(word);
    StaticInstruction in;
    in.write_barrier = control.write_barrier;
    in.read_barrier = control.read_barrier;
    in.wait_mask = control.wait_mask;
    in.stall = std::max<std::uint8_t>(control.stall, 1);
    if (control.stall == 0 && control.yield)
        in.stall = static_cast<std::uint8_t>(parameters_.yield_zero_stall);
    else if (control.yield && control.stall < 2)
        in.stall = 2;

    const sass::table::Row* row = sass::table::find(word, program.arch());
    if (row != nullptr) {
        in.operation = class_of(row->pipe, op);
        in.work = lane_work_of(row->pipe, op);
    }
    const std::span<const sass::RegisterUse> uses = program.uses(index);
    if (row != nullptr && row->pipe == sass::table::Pipe::kTensorAsync)
        describe_warpgroup(in, word);
    else if (in.operation == OperationClass::kTensor)
        describe_tensor(in, word);
    if (in.operation == OperationClass::kMemory && !describe_memory(in, word, program.arch(), uses))
        in.operation = OperationClass::kSpecialRegister;

    const OperationParameters& p = parameters_.operation[static_cast<unsigned>(in.operation)];
    in.pipe = p.pipe;
    if (in.operation != OperationClass::kTensor) {
        in.interval = p.interval;
        in.latency = p.latency;
    }
    switch (in.operation) {
        case OperationClass::kMemory:
            in.kind = InstructionKind::kMemory;
            if (passes_adu(memory_[in.memory].operation)) in.pipe = Pipe::kAdu;
            in.is_register = memory_[in.memory].operation == MemoryOperation::kSpecialRegister;
            break;
        case OperationClass::kBranch:
            in.kind = InstructionKind::kBranch;
            in.may_call_system = sass::may_call_system(program.code()[index]);
            break;
        case OperationClass::kFp64:
            in.kind =
                parameters_.fp64_has_latency ? InstructionKind::kVariable : InstructionKind::kFixed;
            break;
        case OperationClass::kMufu:
        case OperationClass::kBitCount:
        case OperationClass::kConversion:
        case OperationClass::kConversion64:
        case OperationClass::kSpecialRegister:
            in.kind = InstructionKind::kVariable;
            break;
        case OperationClass::kReduce:
            in.kind = InstructionKind::kVariable;
            in.passes_by_value = op == sass::Op::kMatch && word.bit(79);  // .ANY
            break;
        default:
            break;
    }
    if (in.interval > 1 && in.pipe != Pipe::kTensor && in.kind != InstructionKind::kMemory)
        in.late = static_cast<std::uint16_t>(
            std::lround((in.interval / parameters_.pipe_sustained - in.interval) *
                        StaticInstruction::kLateParts));
    in.arithmetic = in.arithmetic == Arithmetic::kNone ? arithmetic_of(op) : in.arithmetic;

    describe_control(in, word, program.arch());
    describe_operands(in, uses, control.reuse);
    return in;
}

}  // namespace lockstep::gpu
