// SPDX-License-Identifier: Apache-2.0
// What decoding knows of memory instructions: operation, width, order, cache hints. Fields: bits
// 73-75 size, 77-80 order and scope, 84-86 eviction priority (sass_opcodes of nvdisasm, probed).
#include <algorithm>

#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

bool StaticTable::describe_memory(StaticInstruction& in, const sass::Word& word, sass::Arch arch,
                                  std::span<const sass::RegisterUse> uses) {
    using Op = MemoryOperation;
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
    switch (word.base_opcode()) {
        case 0x180:  // LD
        case 0x181:  // LDG
            info.operation = Op::kLoadGlobal;
            info.is_constant = word.base_opcode() == 0x181 && order == 4;
            info.is_strong = is_strong;
            info.priority = kPriorities[word.bits(84, 3)];
            info.prefetch_sectors = static_cast<std::uint8_t>(
                word.base_opcode() == 0x181 && word.bits(68, 2) != 0 ? 1u << word.bits(68, 2) : 0);
            in.is_generic = word.base_opcode() == 0x180;
            is_global = true;
            break;
        case 0x185:  // ST
        case 0x186:  // STG
            info.operation = Op::kStoreGlobal;
            info.is_strong = is_strong;
            info.priority = kPriorities[word.bits(84, 3)];
            in.is_generic = word.base_opcode() == 0x185;
            is_global = true;
            break;
        case 0x183:
            info.operation = Op::kLoadLocal;
            is_global = true;
            break;
        case 0x187:
            info.operation = Op::kStoreLocal;
            is_global = true;
            break;
        case 0x184:
            info.operation = Op::kLoadShared;
            break;
        case 0x188:
            info.operation = Op::kStoreShared;
            break;
        case 0x189:
            info.operation = Op::kShuffle;
            info.width = 4;
            break;
        case 0x3b:
        case 0x44:
            info.operation = word.base_opcode() == 0x3b ? Op::kLoadMatrix : Op::kStoreMatrix;
            info.matrices = static_cast<std::uint8_t>(1u << word.bits(72, 2));
            info.width = 16;
            break;
        case 0x18a:  // ATOM
        case 0x18b:
        case 0x1a2:
        case 0x1a3:  // ATOMG
        case 0x1a8:
        case 0x1a9:
            info.operation = Op::kAtomicGlobal;
            in.is_generic = word.base_opcode() <= 0x18b || word.base_opcode() == 0x1a2;
            is_global = true;
            break;
        case 0x18e:  // RED
        case 0x1a6:
            info.operation = Op::kReductionGlobal;
            is_global = true;
            break;
        case 0x18c:
        case 0x18d:
            info.operation = Op::kAtomicShared;
            break;
        case 0x1ae:
            info.operation = Op::kCopyAsync;
            info.skips_l1 = !word.bit(81);
            info.prefetch_sectors =
                static_cast<std::uint8_t>(word.bits(71, 2) != 0 ? 1u << word.bits(71, 2) : 0);
            is_global = true;
            break;
        case 0x1ba:
            info.operation = Op::kBulkCopy;
            is_global = true;
            break;
        case 0x182:
            info.operation = Op::kLoadConstant;
            info.constant_bank = static_cast<std::uint8_t>(word.bits(54, 5));
            break;
        default:
            return false;
    }
    in.is_long_scoreboard = is_global;
    in.memory = static_cast<std::uint32_t>(memory_.size());
    memory_.push_back(info);
    if (in.is_generic) {
        const bool is_store = info.operation == Op::kStoreGlobal;
        const bool is_atomic = info.operation == Op::kAtomicGlobal;
        info.operation = is_atomic  ? Op::kAtomicShared
                         : is_store ? Op::kStoreShared
                                    : Op::kLoadShared;
        memory_.push_back(info);
        info.operation = is_store ? Op::kStoreLocal : Op::kLoadLocal;
        memory_.push_back(info);
    }
    return true;
}

}  // namespace lockstep::gpu
