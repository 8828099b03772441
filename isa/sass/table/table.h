// SPDX-License-Identifier: Apache-2.0
// The instruction set as data: the rows of sass.table, compiled into constant arrays by
// generate.cpp. A row says which words it matches and how each of their fields reads and prints.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "isa/sass/word.h"

namespace lockstep::sass::table {

/// Bits of a word that make one number; a field may be scattered, least significant run first.
struct BitRun {
    std::uint8_t first = 0;
    std::uint8_t count = 0;
};
struct Field {
    static constexpr unsigned kMaxRuns = 6;
    BitRun run[kMaxRuns];
    std::uint8_t runs = 0;

    constexpr unsigned width() const {
        unsigned total = 0;
        for (unsigned i = 0; i < runs; ++i) total += run[i].count;
        return total;
    }
    constexpr std::uint64_t get(const Word& word) const {
        std::uint64_t value = 0;
        unsigned shift = 0;
        for (unsigned i = 0; i < runs; ++i) {
            value |= word.bits(run[i].first, run[i].count) << shift;
            shift += run[i].count;
        }
        return value;
    }
    constexpr void set(Word& word, std::uint64_t value) const {
        for (unsigned i = 0; i < runs; ++i) {
            word.set_bits(run[i].first, run[i].count, value);
            value >>= run[i].count;
        }
    }
};

enum class PieceKind : std::uint8_t {
    kText,               // literal
    kChoice,             // one of 2^width texts
    kRegister,           // R0..R254, RZ
    kUniformRegister,    // UR0..UR62, URZ
    kPredicate,          // P0..P6, PT
    kUniformPredicate,   // UP0..UP6, UPT
    kUnsigned,           // 0x10
    kSigned,             // -0x10
    kOffset,             // likewise, but unsigned where it is a whole address
    kSignedUnlessZero,   // a space and a signed number, or nothing
    kInvertedPredicate,  // kPredicate, stored as its complement
    kInvertedUniformPredicate,
    kBranch,   // signed, relative to the next instruction
    kDecimal,  // 12
    kFloat32,
    kFloat64,  // the high 32 bits of a double
    kFloat16,
    kBfloat16,
    kFloat16OrBfloat16,  // bfloat16 where the condition bit is set
    kBitSet,             // {5,2,0}: positions of the bits that are set
};

struct Piece {
    PieceKind kind = PieceKind::kText;
    std::uint8_t shift = 0;  ///< the number is the field shifted left by this
    std::uint8_t condition_bit =
        0;  ///< 0: none. kSigned: signed only if this bit is condition_value
    bool condition_value = true;
    std::uint16_t text = 0;  ///< index into kTexts (kChoice: of the first)
    Field field;
};

/// One operand (or, as operand 0 of a row, the mnemonic with its modifiers).
struct Operand {
    std::uint16_t first_piece = 0;
    std::uint8_t pieces = 0;
    bool address = false;   ///< [R+UR+offset]: parts that are zero are not printed
    bool optional = false;  ///< not printed if `condition` holds `hidden_value`
    std::uint64_t hidden_value = 0;
    Field condition;
};

enum class Pipe : std::uint8_t {
    kAlu,
    kFma,
    kHalf,
    kDouble,
    kTensor,
    kTensorAsync,
    kVariable,
    kMemory,
    kTma,
    kUniform,
    kBranch,
    kDispatch,
    kTexture,
    kOther
};

struct Row {
    Word mask, value;        ///< matches w if (w & mask) == value
    std::uint8_t archs = 0;  ///< bit i: the i-th of 70, 75, 80, 86, 89, 90
    Pipe pipe = Pipe::kOther;
    bool uniform_guard = false;  ///< guarded by UP0..UP6
    std::uint16_t first_operand = 0;
    std::uint8_t operands = 0;  ///< the mnemonic counted in
    std::uint16_t line = 0;     ///< in sass.table
};

/// The row that the word belongs to, or nullptr.
const Row* find(const Word& word, Arch arch);

std::span<const Row> rows();
std::span<const Operand> operands(const Row& row);
std::span<const Piece> pieces(const Operand& operand);
std::string_view text(unsigned index);
/// The arch's bit in Row::archs; 0 for one that is not known.
unsigned arch_bit(Arch arch);

}  // namespace lockstep::sass::table
