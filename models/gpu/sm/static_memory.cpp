// SPDX-License-Identifier: Apache-2.0
// What decoding knows of memory instructions: operation, width, order, cache hints. Fields: bits
// 73-75 size, 77-80 order and scope, 84-86 eviction priority (sass_opcodes of nvdisasm, probed).
#include <algorithm>
#include <bit>

#include "isa/sass/table/op.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

namespace {

/// What an opcode's word says beside its size; flags.
enum MemoryFields : unsigned {
    kGenericSpace = 1,    ///< the address tells the space
    kOrdered = 2,         ///< order, scope, eviction priority
    kReadOnly = 4,        ///< order 4: read-only data
    kFloatTypes = 8,      ///< an atomic that may be of floating-point numbers
    kMatrices = 16,       ///< bits 72-73: how many
    kMaySkipL1 = 32,      ///< bit 81 is 0
    kBank = 64,           ///< bits 54-58: of constants
    kUniformOnly = 128,   ///< no memory instruction in another form
    kLargeOrSmall = 256,  ///< 8 bytes from size 2 on, 4 else
    kMask = 512,          ///< bits 72-75: channels, a register each
};

struct MemoryOpcode {
    sass::Op op;
    MemoryOperation operation;
    unsigned fields = 0;
    std::uint8_t width = 0;     ///< bytes a lane; 0: as bits 73-75 say
    std::uint8_t prefetch = 0;  ///< the first bit of the L2 prefetch hint; 0: there is none
};

constexpr MemoryOpcode kMemoryOpcodes[] = {
    {sass::Op::kLd, MemoryOperation::kLoadGlobal, kGenericSpace | kOrdered},
    {sass::Op::kLdg, MemoryOperation::kLoadGlobal, kOrdered | kReadOnly, 0, 68},
    {sass::Op::kSt, MemoryOperation::kStoreGlobal, kGenericSpace | kOrdered},
    {sass::Op::kStg, MemoryOperation::kStoreGlobal, kOrdered},
    {sass::Op::kLdl, MemoryOperation::kLoadLocal},
    {sass::Op::kStl, MemoryOperation::kStoreLocal},
    {sass::Op::kLds, MemoryOperation::kLoadShared},
    {sass::Op::kSts, MemoryOperation::kStoreShared},
    {sass::Op::kShfl, MemoryOperation::kShuffle, 0, 4},
    {sass::Op::kLdsm, MemoryOperation::kLoadMatrix, kMatrices, 16},
    {sass::Op::kStsm, MemoryOperation::kStoreMatrix, kMatrices, 16},
    {sass::Op::kAtom, MemoryOperation::kAtomicGlobal, kGenericSpace | kFloatTypes},
    {sass::Op::kAtomCas, MemoryOperation::kAtomicGlobal, kGenericSpace},
    {sass::Op::kAtomFloat, MemoryOperation::kAtomicGlobal, kGenericSpace | kFloatTypes},
    {sass::Op::kAtomg, MemoryOperation::kAtomicGlobal, kFloatTypes},
    {sass::Op::kAtomgCas, MemoryOperation::kAtomicGlobal},
    {sass::Op::kAtomgFloat, MemoryOperation::kAtomicGlobal, kFloatTypes},
    {sass::Op::kRed, MemoryOperation::kReductionGlobal, kFloatTypes},
    {sass::Op::kRedFloat, MemoryOperation::kReductionGlobal, kFloatTypes},
    // Of another CTA, as Access::space says.
    {sass::Op::kStas, MemoryOperation::kStoreShared},
    {sass::Op::kRedas, MemoryOperation::kStoreShared, kLargeOrSmall},
    {sass::Op::kAtoms, MemoryOperation::kAtomicShared},
    {sass::Op::kAtomsCas, MemoryOperation::kAtomicShared},
    {sass::Op::kLdgsts, MemoryOperation::kCopyAsync, kMaySkipL1, 0, 71},
    {sass::Op::kUtmaldg, MemoryOperation::kBulkCopy},
    {sass::Op::kUtmastg, MemoryOperation::kBulkCopy},
    {sass::Op::kUtmaredg, MemoryOperation::kBulkCopy},
    {sass::Op::kUtmapf, MemoryOperation::kBulkCopy},
    {sass::Op::kUblkcp, MemoryOperation::kBulkCopy},
    {sass::Op::kUblkred, MemoryOperation::kBulkCopy},
    {sass::Op::kUblkpf, MemoryOperation::kBulkCopy},
    {sass::Op::kUtmacctl, MemoryOperation::kBulkCopy, kUniformOnly},  // the other is .IVALL
    {sass::Op::kLdc, MemoryOperation::kLoadConstant, kBank},
    {sass::Op::kS2r, MemoryOperation::kSpecialRegister},
    {sass::Op::kS2ur, MemoryOperation::kSpecialRegister},
    {sass::Op::kTex, MemoryOperation::kTexture, kMask},
    {sass::Op::kTexB, MemoryOperation::kTexture, kMask},
    {sass::Op::kTld, MemoryOperation::kTexture, kMask},
    {sass::Op::kTldB, MemoryOperation::kTexture, kMask},
    {sass::Op::kTld4, MemoryOperation::kTexture, kMask},
    {sass::Op::kTld4B, MemoryOperation::kTexture, kMask},
    {sass::Op::kTxd, MemoryOperation::kTexture, kMask},
    {sass::Op::kTxdB, MemoryOperation::kTexture, kMask},
    {sass::Op::kSuld, MemoryOperation::kTexture},
    {sass::Op::kSuldB, MemoryOperation::kTexture},
    {sass::Op::kSust, MemoryOperation::kStoreGlobal},
    {sass::Op::kSustB, MemoryOperation::kStoreGlobal},
};

/// Null: no memory instruction.
const MemoryOpcode* find(sass::Op op) {
    for (const MemoryOpcode& opcode : kMemoryOpcodes)
        if (opcode.op == op) return &opcode;
    return nullptr;
}

/// Up to sm_89 the type field (bits 73-75) has floating-point types: 3 F32, 4 F16x2, 6 F64. From
/// sm_90 on they have opcodes of their own.
bool is_float_atomic(sass::Op op, const sass::Word& word, sass::Arch arch) {
    using enum sass::Op;
    if (op == kAtomFloat || op == kAtomgFloat || op == kRedFloat) return true;
    if (arch >= 90) return false;
    const std::uint64_t type = word.bits(73, 3);
    return type == 3 || type == 4 || type == 6;
}

}  // namespace

bool StaticTable::describe_memory(StaticInstruction& in, const sass::Word& word, sass::Arch arch,
                                  std::span<const sass::RegisterUse> uses) {
    using enum MemoryOperation;
    const MemoryOpcode* const opcode = find(sass::op_of(word));
    if (opcode == nullptr || ((opcode->fields & kUniformOnly) != 0 && !word.uniform()))
        return false;
    MemoryInstructionInfo info;
    constexpr std::uint8_t kSizes[] = {1, 1, 2, 2, 4, 8, 16, 16};
    info.width = kSizes[word.bits(73, 3)];
    // The address is uniform where no vector register holds it.
    info.is_uniform_address = std::none_of(uses.begin(), uses.end(), [](const auto& use) {
        return !use.is_write && use.file == sass::RegisterFile::kVector &&
               use.slot == sass::OperandSlot::kA;
    });
    const auto order = static_cast<unsigned>(word.bits(77, 4));
    // Before sm_80: scope in bits 77-78, strength in bits 79-80 (1 weak, which prints .SYS; 2
    // strong).
    const bool is_strong = arch >= 80 ? order >= 7 : (order >> 2 >= 2 && (order & 3) >= 2);
    constexpr EvictionPriority kPriorities[] = {
        EvictionPriority::kFirst,  EvictionPriority::kNormal,    EvictionPriority::kLast,
        EvictionPriority::kNormal, EvictionPriority::kUnchanged, EvictionPriority::kNoAllocate,
        EvictionPriority::kNormal, EvictionPriority::kNormal};
    info.operation = opcode->operation;
    if (opcode->width != 0) info.width = opcode->width;
    if (opcode->fields & kMask)
        info.width = static_cast<std::uint8_t>(4 * std::max(1, std::popcount(word.bits(72, 4))));
    if (opcode->fields & kLargeOrSmall) info.width = word.bits(73, 3) >= 2 ? 8 : 4;
    if (opcode->fields & kReadOnly) info.is_constant = order == 4;
    if (opcode->fields & kOrdered) {
        info.is_strong = is_strong;
        info.priority = kPriorities[word.bits(84, 3)];
    }
    if (opcode->fields & kMatrices)
        info.matrices = static_cast<std::uint8_t>(1u << word.bits(72, 2));
    if (opcode->fields & kFloatTypes) info.is_float = is_float_atomic(opcode->op, word, arch);
    info.is_swap = opcode->op == sass::Op::kAtomsCas;
    info.counts_lanes =  // the other of this form is ARRIVE, which sm_90 has not
        opcode->op == sass::Op::kAtoms && word.form() == 7;
    if (opcode->fields & kMaySkipL1) info.skips_l1 = !word.bit(81);
    if (opcode->fields & kBank) info.constant_bank = static_cast<std::uint8_t>(word.bits(54, 5));
    if (const unsigned hint = opcode->prefetch; hint != 0 && word.bits(hint, 2) != 0)
        info.prefetch_sectors = static_cast<std::uint8_t>(1u << word.bits(hint, 2));
    in.is_generic = (opcode->fields & kGenericSpace) != 0;
    in.is_long_scoreboard = is_long_scoreboard(info.operation);
    in.memory = static_cast<std::uint32_t>(memory_.size());
    memory_.push_back(info);
    if (in.is_generic) {
        const bool is_store = info.operation == kStoreGlobal;
        const bool is_atomic = info.operation == kAtomicGlobal;
        info.operation = is_atomic ? kAtomicShared : is_store ? kStoreShared : kLoadShared;
        memory_.push_back(info);
        info.operation = is_store ? kStoreLocal : kLoadLocal;
        memory_.push_back(info);
    }
    return true;
}

}  // namespace lockstep::gpu
