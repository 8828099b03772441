// SPDX-License-Identifier: Apache-2.0
// The bound form of an instruction: decoded once, executed often. Binding resolves every operand to
// a row and every modifier to a function or a small integer, so that execution never decodes.
#pragma once

#include <cstdint>

#include "isa/sass/row.h"

namespace lockstep::sass {

struct Warp;
struct Instruction;

/// Executes one instruction for the lanes in warp.mask (never 0).
using Execute = void (*)(const Instruction&, Warp&);

/// Predicates of a warp are 32-bit lane masks in Warp::predicate: P0-P6, PT, UP0-UP6, UPT, and a
/// sink for discarded results. Uniform predicates are all ones or all zeros.
constexpr std::uint8_t kPredicatePT = 7;
constexpr std::uint8_t kUniformPredicate0 = 8;
constexpr std::uint8_t kPredicateUPT = 15;
constexpr std::uint8_t kPredicateSink = 16;
constexpr unsigned kPredicateCount = 17;

/// A predicate that is read.
struct PredicateSource {
    std::uint8_t index = kPredicatePT;
    bool negate = false;
};

struct Instruction {
    Execute execute = nullptr;
    Operand d;        ///< first destination row (wide results continue in the next rows)
    Operand d2;       ///< second destination, where there is one
    Operand a, b, c;  ///< sources, in the order the mnemonic lists them
    std::uint32_t guard_invert = 0;                         ///< all ones for @!P
    std::uint8_t guard = kPredicatePT;                      ///< index into Warp::predicate
    std::uint8_t pd[2] = {kPredicateSink, kPredicateSink};  ///< destination predicates
    PredicateSource ps[2];                                  ///< source predicates
    std::uint8_t negate = 0;      ///< bit i: source i (a, b, c) is negated (or complemented)
    std::uint8_t absolute = 0;    ///< bit i: absolute value of source i
    std::uint8_t width = 0;       ///< bytes a lane accesses, for memory instructions
    std::uint8_t effects = 0;     ///< bits of effects.h
    std::uint32_t modifiers = 0;  ///< meaning private to the family that binds and executes it
    std::uint64_t immediate = 0;  ///< likewise; branch target (code index) for control flow
    Execute inner = nullptr;      ///< what a wrapper (such as `uniform`) executes
};

}  // namespace lockstep::sass
