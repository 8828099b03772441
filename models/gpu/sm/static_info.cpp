// SPDX-License-Identifier: Apache-2.0
// The classes follow the pipe column of the instruction table and, where a pipe executes several
// kinds of operations at different rates, the opcode. Rates: CUDA C Programming Guide, throughput
// of native arithmetic instructions.
#include "models/gpu/sm/static_info.h"

#include <algorithm>
#include <cmath>

#include "isa/sass/semantics/tensor/warpgroup.h"
#include "isa/sass/system_call.h"
#include "isa/sass/table/op.h"
#include "isa/sass/table/table.h"

namespace lockstep::gpu {

namespace {

using sass::Op;
using sass::Word;

bool is_integer_multiply(Op op) {
    return op == Op::kImad || op == Op::kImadWide || op == Op::kIdp || op == Op::kImadHi;
}

OperationClass class_of_variable(Op op) {
    switch (op) {
        case Op::kMufu:
            return OperationClass::kMufu;
        case Op::kFlo:
        case Op::kBrev:
        case Op::kPopc:
            return OperationClass::kBitCount;
        case Op::kF2f:
        case Op::kF2i:
        case Op::kI2f:
        case Op::kFrnd:
            return OperationClass::kConversion;
        case Op::kF2f64:
        case Op::kF2i64:
        case Op::kI2f64:
        case Op::kFrnd64:
            return OperationClass::kConversion64;
        case Op::kRedux:
        case Op::kMatch:
            return OperationClass::kReduce;
        case Op::kFchk:
            return OperationClass::kMufu;
        case Op::kLdc:
            return OperationClass::kMemory;
        default:
            return OperationClass::kSpecialRegister;
    }
}

OperationClass class_of(sass::table::Pipe pipe, Op op) {
    using P = sass::table::Pipe;
    switch (pipe) {
        case P::kAlu:
            return OperationClass::kAlu;
        case P::kFma:
            return is_integer_multiply(op) ? OperationClass::kImad : OperationClass::kFma;
        case P::kHalf:
            return OperationClass::kFp16;
        case P::kDouble:
            return OperationClass::kFp64;
        case P::kTensor:
        case P::kTensorAsync:
            return OperationClass::kTensor;
        case P::kVariable:
            return op == Op::kLdc ? OperationClass::kMemory : class_of_variable(op);
        case P::kUniform:
            return OperationClass::kUniform;
        case P::kBranch:
            return OperationClass::kBranch;
        case P::kMemory:
        case P::kTma:
        case P::kTexture:
            return OperationClass::kMemory;
        case P::kDispatch:
            return op == Op::kVote ? OperationClass::kVote : OperationClass::kDispatch;
        case P::kOther:
            return OperationClass::kDispatch;
    }
    return OperationClass::kDispatch;
}

Arithmetic arithmetic_of(Op op) {
    switch (op) {
        case Op::kFmul:
            return Arithmetic::kFmul;
        case Op::kFadd:
            return Arithmetic::kFadd;
        case Op::kFfma:
            return Arithmetic::kFfma;
        case Op::kDmul:
            return Arithmetic::kDmul;
        case Op::kDadd:
            return Arithmetic::kDadd;
        case Op::kDfma:
            return Arithmetic::kDfma;
        case Op::kHadd2:
            return Arithmetic::kHadd;
        case Op::kHfma2:
        case Op::kHfma2Mma:
            return Arithmetic::kHfma;
        case Op::kHmul2:
            return Arithmetic::kHmul;
        default:
            return Arithmetic::kNone;
    }
}

}  // namespace

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
        in.operand[in.operands++] = {use.number, use.count, static_cast<std::uint8_t>(slot),
                                     (reuse >> slot & 1) != 0};
    }
}

void StaticTable::describe_tensor(StaticInstruction& in, const Word& word) const {
    TensorType type = TensorType::kFp16;
    double factor = 1;
    switch (sass::op_of(word)) {
        case Op::kHmma884:  // HMMA.884: one of 2 (F16) or 4 (F32) steps of an 8x8x4 product by quad
                            // pairs
            in.tensor_macs = 1024 / (word.bit(76) ? 4 : 2);
            in.arithmetic = Arithmetic::kHmma;
            break;
        case Op::kHmma:
        case Op::kHmmaSp: {  // HMMA
            const bool is_tf32 = word.bits(82, 2) >= 2;
            if (word.bit(76)) factor = parameters_.fp32_accumulate_factor;
            if (is_tf32) type = TensorType::kTf32;
            in.tensor_macs = 16 * 8 * (word.bit(75) ? 16 : word.bit(78) ? 4 : 8);
            in.arithmetic = Arithmetic::kHmma;
            break;
        }
        case Op::kImma: {  // IMMA: shape by bits 86, 85, 75; 4-bit types by 77, 79
            const bool is_int4 = word.bit(77) || word.bit(79);
            const unsigned shape =
                static_cast<unsigned>(word.bits(85, 2)) << 1 | static_cast<unsigned>(word.bit(75));
            constexpr unsigned kMacs[] = {8 * 8 * 16,  8 * 8 * 16,  8 * 8 * 32,  8 * 8 * 64,
                                          16 * 8 * 16, 16 * 8 * 32, 16 * 8 * 64, 16 * 8 * 128};
            in.tensor_macs = kMacs[shape];
            type = is_int4 ? TensorType::kInt4 : TensorType::kInt8;
            in.arithmetic = Arithmetic::kImma;
            break;
        }
        case Op::kBmma: {  // BMMA
            constexpr unsigned kMacs[] = {8 * 8 * 128, 16 * 8 * 128, 16 * 8 * 256, 16 * 8 * 256};
            in.tensor_macs = kMacs[word.bits(75, 2)];
            type = TensorType::kB1;
            in.arithmetic = Arithmetic::kBmma;
            break;
        }
        case Op::kDmma: {  // DMMA
            constexpr unsigned kMacs[] = {8 * 8 * 4, 16 * 8 * 4, 16 * 8 * 8, 16 * 8 * 16};
            in.tensor_macs = kMacs[word.bits(76, 2)];
            type = TensorType::kFp64;
            in.kind = InstructionKind::kVariable;
            in.latency = static_cast<std::uint16_t>(parameters_.dmma_latency);
            in.arithmetic = Arithmetic::kDmma;
            break;
        }
        case Op::kQmma:  // QMMA: 16x8x32 of 8-bit floats, at the rate of bytes
            in.tensor_macs = 16 * 8 * 32;
            type = TensorType::kInt8;
            in.arithmetic = Arithmetic::kHmma;
            break;
        default:  // MOVM and what is not executed
            in.operation = OperationClass::kSpecialRegister;
            return;
    }
    const double macs = parameters_.tensor_macs[static_cast<unsigned>(type)];
    in.interval =
        static_cast<std::uint32_t>(std::max(std::ceil(in.tensor_macs * factor / macs - 1e-6), 1.0));
}

void StaticTable::describe_warpgroup(StaticInstruction& in, const Word& word) const {
    constexpr unsigned kRows = 64, kSliceColumns = 8, kKBytes = 32, kNoGroup = 7;
    constexpr unsigned kWavefront = 128;  // bytes
    TensorType type = TensorType::kInt8;  // fp8 is as fast
    unsigned depth = kKBytes;
    switch (sass::op_of(word)) {
        case Op::kHgmma:
            type = word.bits(76, 2) == 2 ? TensorType::kTf32 : TensorType::kFp16;
            depth = type == TensorType::kTf32 ? kKBytes / 4 : kKBytes / 2;
            break;
        case Op::kIgmma:
        case Op::kQgmma:
            break;
        case Op::kBgmma:
            type = TensorType::kB1;
            depth = kKBytes * 8;
            break;
        default:  // WARPGROUP
            in.operation = OperationClass::kDispatch;
            if (!word.bit(80)) return;  // not .DEPBAR
            in.kind = InstructionKind::kWarpgroupWait;
            in.limit = static_cast<std::uint8_t>(word.bits(72, 3));
            return;
    }
    const bool a_in_registers = word.form() == 6, is_sparse = word.bit(73);
    const unsigned columns = sass::warpgroup_columns(word);
    const double macs = parameters_.warpgroup_macs[static_cast<unsigned>(type)];
    if (columns == 0 || macs == 0) return;  // not executed
    in.kind = InstructionKind::kWarpgroupProduct;
    in.arithmetic = Arithmetic::kGmma;
    in.tensor_macs = kRows / WarpgroupUnit::kWarps * columns * depth;  // kept ones of a sparse A
    in.interval =
        a_in_registers ? parameters_.warpgroup_issue_registers : parameters_.warpgroup_issue_shared;
    const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
    const unsigned b_bytes = kSliceColumns * kKBytes * (is_sparse ? 2 : 1);
    in.product = {.slices = byte(columns / kSliceColumns),
                  .a_wavefronts = byte(a_in_registers ? 0 : kRows * kKBytes / kWavefront),
                  .b_wavefronts = byte(b_bytes / kWavefront),
                  .closes_group = word.bits(84, 3) != kNoGroup,
                  .cycles = static_cast<std::uint16_t>(std::ceil(in.tensor_macs / macs - 1e-6)),
                  .latency = static_cast<std::uint16_t>(
                      a_in_registers ? parameters_.warpgroup_latency_registers
                                     : parameters_.warpgroup_latency_shared)};
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
    if (row != nullptr) in.operation = class_of(row->pipe, op);
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
        case OperationClass::kReduce:
        case OperationClass::kSpecialRegister:
            in.kind = InstructionKind::kVariable;
            break;
        default:
            break;
    }
    in.arithmetic = in.arithmetic == Arithmetic::kNone ? arithmetic_of(op) : in.arithmetic;

    switch (op) {
        case Op::kExit:
            in.kind = InstructionKind::kExit;
            break;
        case Op::kBar:
        case Op::kUcgabarArv:
        case Op::kUsetmaxreg:  // lets warps go that wait for registers
            in.kind = InstructionKind::kBarrier;
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
            in.changes_mbarrier = program.arch() >= 90;
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
            in.reads_mbarrier = program.arch() >= 80 && program.arch() < 90;
            break;
        case Op::kPreexit:
            in.kind = InstructionKind::kTrigger;
            break;
        case Op::kAcqbulk:
            in.waits_for_grid = true;
            break;
        case Op::kNanosleep:
            in.kind = InstructionKind::kSleep;
            break;
        case Op::kCctl:
            in.kind = InstructionKind::kInvalidate;
            break;
        default:
            break;
    }
    describe_operands(in, uses, control.reuse);
    return in;
}

}  // namespace lockstep::gpu
