// SPDX-License-Identifier: Apache-2.0
// What decoding knows of memory instructions: operation, width, order, cache hints. Fields: bits
// 73-75 size, 77-80 order and scope, 84-86 eviction priority (sass_opcodes of nvdisasm, probed).
#include <algorithm>

#include "isa/sass/table/op.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

namespace {

/// Up to sm_89 the type field (bits 73-75) has floating-point types: 3 F32, 4 F16x2, 6 F64. From
/// sm_90 on they have opcodes of their own.
bool is_float_atomic(sass::Op op, const sass::Word& word, sass::Arch arch) {
    using enum sass::Op;
    if (op == kAtomFloat || op == kAtomgFloat || op == kRedFloat) return true;
    if (arch >= 90 || op == kAtomCas || op == kAtomgCas) return false;
    const std::uint64_t type = word.bits(73, 3);
    return type == 3 || type == 4 || type == 6;
}

}  // namespace

bool StaticTable::describe_memory(StaticInstruction& in, const sass::Word& word, sass::Arch arch,
                                  std::span<const sass::RegisterUse> uses) {
    using enum MemoryOperation;
    const sass::Op op = sass::op_of(word);
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
    bool is_global = false;
    switch (op) {
        case sass::Op::kLd:
        case sass::Op::kLdg:
            info.operation = kLoadGlobal;
            info.is_constant = op == sass::Op::kLdg && order == 4;
            info.is_strong = is_strong;
            info.priority = kPriorities[word.bits(84, 3)];
            info.prefetch_sectors = static_cast<std::uint8_t>(
                op == sass::Op::kLdg && word.bits(68, 2) != 0 ? 1u << word.bits(68, 2) : 0);
            in.is_generic = op == sass::Op::kLd;
            is_global = true;
            break;
        case sass::Op::kSt:
        case sass::Op::kStg:
            info.operation = kStoreGlobal;
            info.is_strong = is_strong;
            info.priority = kPriorities[word.bits(84, 3)];
            in.is_generic = op == sass::Op::kSt;
            is_global = true;
            break;
        case sass::Op::kLdl:
            info.operation = kLoadLocal;
            is_global = true;
            break;
        case sass::Op::kStl:
            info.operation = kStoreLocal;
            is_global = true;
            break;
        case sass::Op::kLds:
            info.operation = kLoadShared;
            break;
        case sass::Op::kSts:
            info.operation = kStoreShared;
            break;
        case sass::Op::kShfl:
            info.operation = kShuffle;
            info.width = 4;
            break;
        case sass::Op::kLdsm:
        case sass::Op::kStsm:
            info.operation = op == sass::Op::kLdsm ? kLoadMatrix : kStoreMatrix;
            info.matrices = static_cast<std::uint8_t>(1u << word.bits(72, 2));
            info.width = 16;
            break;
        case sass::Op::kAtom:
        case sass::Op::kAtomCas:
        case sass::Op::kAtomFloat:
        case sass::Op::kAtomgFloat:
        case sass::Op::kAtomg:
        case sass::Op::kAtomgCas:
            info.operation = kAtomicGlobal;
            in.is_generic =
                op == sass::Op::kAtom || op == sass::Op::kAtomCas || op == sass::Op::kAtomFloat;
            info.is_float = is_float_atomic(op, word, arch);
            is_global = true;
            break;
        case sass::Op::kRed:
        case sass::Op::kRedFloat:
            info.operation = kReductionGlobal;
            info.is_float = is_float_atomic(op, word, arch);
            is_global = true;
            break;
        case sass::Op::kStas:
        case sass::Op::kRedas:
            info.operation = kStoreShared;  // of another CTA, as Access::space says
            if (op == sass::Op::kRedas) info.width = word.bits(73, 3) >= 2 ? 8 : 4;
            break;
        case sass::Op::kAtoms:
        case sass::Op::kAtomsCas:
            info.operation = kAtomicShared;
            break;
        case sass::Op::kLdgsts:
            info.operation = kCopyAsync;
            info.skips_l1 = !word.bit(81);
            info.prefetch_sectors =
                static_cast<std::uint8_t>(word.bits(71, 2) != 0 ? 1u << word.bits(71, 2) : 0);
            is_global = true;
            break;
        case sass::Op::kUtmaldg:
        case sass::Op::kUtmastg:
        case sass::Op::kUtmaredg:
        case sass::Op::kUtmapf:
        case sass::Op::kUblkcp:
        case sass::Op::kUblkred:
        case sass::Op::kUblkpf:
            info.operation = kBulkCopy;
            is_global = true;
            break;
        case sass::Op::kUtmacctl:
            if (!word.uniform()) return false;  // .IVALL
            info.operation = kBulkCopy;
            is_global = true;
            break;
        case sass::Op::kLdc:
            info.operation = kLoadConstant;
            info.constant_bank = static_cast<std::uint8_t>(word.bits(54, 5));
            break;
        default:
            return false;
    }
    in.is_long_scoreboard = is_global;
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
