// SPDX-License-Identifier: Apache-2.0
// Operand roles: which registers an instruction reads and writes. Binding records them, so that
// they are the ones that the semantics use.
#pragma once

#include <cstdint>

namespace lockstep::sass {

enum class RegisterFile : std::uint8_t {
    kVector,            ///< R0-R254
    kUniform,           ///< UR0-UR62
    kPredicate,         ///< P0-P6
    kUniformPredicate,  ///< UP0-UP6
    kBarrier,           ///< B0-B15
    kConstant,          ///< a word of a constant bank as an ALU operand
};

/// Which of the sources the operand is to the reuse cache: the one that its .reuse bit (122, 123,
/// 124) names. Mostly it goes by where the field stands.
enum class OperandSlot : std::uint8_t {
    kA,            ///< bits 24-31
    kB,            ///< bits 32-63; 64-71 where what stands at 32-63 is the third source
    kC,            ///< bits 64-71; 32-39 of FADD and its kin
    kDestination,  ///< bits 16-23
    kOther,
};

/// `count` consecutive registers from `number` on. RZ, URZ, PT and UPT do not appear. A constant
/// has its bank in `number` and its byte offset in `offset`.
struct RegisterUse {
    RegisterFile file = RegisterFile::kVector;
    OperandSlot slot = OperandSlot::kOther;
    bool is_write = false;
    std::uint8_t number = 0;
    std::uint8_t count = 1;
    std::uint16_t offset = 0;
    friend constexpr bool operator==(const RegisterUse&, const RegisterUse&) = default;
};

}  // namespace lockstep::sass
