// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/effects.h"

namespace lockstep::sass {

namespace {

std::uint8_t effects_of(const Word& word) {
    switch (word.base_opcode()) {
        case 0x03b:  // LDSM
        case 0x180:  // LD
        case 0x181:  // LDG
        case 0x184:  // LDS
            return kReadsMemory;
        case 0x044:  // STSM
        case 0x1bd:  // STAS
        case 0x185:  // ST
        case 0x186:  // STG
        case 0x188:  // STS
            return kWritesMemory;
        case 0x1ae:  // LDGSTS
            return kReadsMemory | kWritesMemory;
        case 0x183:  // LDL
        case 0x187:  // STL
            return kLocalMemory;
        case 0x18a:  // ATOM
        case 0x18b:  // ATOM.CAS
        case 0x18c:  // ATOMS
        case 0x18d:  // ATOMS.CAS
        case 0x18e:  // RED
        case 0x1a2:  // ATOM of floats
        case 0x1a3:  // ATOMG of floats
        case 0x1a6:  // REDG of floats
        case 0x1a8:  // ATOMG
        case 0x1a9:  // ATOMG.CAS
        case 0x1be:  // REDAS
            return kWritesMemory | kAtomic;
        case 0x1a7:  // SYNCS: arrive, phase check
        case 0x1b0:  // ARRIVES
        case 0x1b1:  // SYNCS: load
        case 0x1b2:  // SYNCS of uniform operands
            return kMbarrier;
        case 0x192:  // MEMBAR
        case 0x1c6:  // FENCE.VIEW.ASYNC
            return kFence;
        case 0x148:  // WARPSYNC
        case 0x14d:  // EXIT
            return kWarpOrExit;
        case 0x147: {                          // BRA
            constexpr unsigned kDiverged = 2;  // .DIV, .CONV
            return word.form() != 2 && word.bits(32, 2) >= kDiverged ? kWarpOrExit : 0;
        }
        default:
            return 0;
    }
}

/// True where the result comes from global memory, or may.
bool loads_global(const Word& word) {
    switch (word.base_opcode()) {
        case 0x180:  // LD
        case 0x181:  // LDG
        case 0x18a:  // ATOM
        case 0x18b:  // ATOM.CAS
        case 0x1a2:  // ATOM of floats
        case 0x1a3:  // ATOMG of floats
        case 0x1a8:  // ATOMG
        case 0x1a9:  // ATOMG.CAS
            return true;
        default:
            return false;
    }
}

}  // namespace

void set_effects(std::span<const Word> words, std::span<Instruction> code) {
    unsigned loading = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const Control control = Control::of(words[i]);
        code[i].effects = effects_of(words[i]);
        if ((control.wait_mask & loading) != 0) code[i].effects |= kWaitsForMemory;
        loading &= ~unsigned{control.wait_mask};
        if (loads_global(words[i]) && control.write_barrier != Control::kNoBarrier)
            loading |= 1u << control.write_barrier;
    }
}

}  // namespace lockstep::sass
