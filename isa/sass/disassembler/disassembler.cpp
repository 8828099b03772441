// SPDX-License-Identifier: Apache-2.0
// Prints an instruction from its row of the table: guard, mnemonic, operands. What is here and not
// in the table is common to all rows: how numbers and addresses are written, and three aliases of
// IMAD by which nvdisasm tells moves, shifts and additions on the FMA pipe apart.
// Source: the output of nvdisasm 11.8, which the tests hold.
#include "isa/sass/disassembler/disassembler.h"

#include <fmt/format.h>

#include "isa/sass/disassembler/number_text.h"
#include "isa/sass/table/table.h"

namespace lockstep::sass {

namespace {

using table::Piece;
using table::PieceKind;

std::string register_text(const char* name, std::uint64_t number, std::uint64_t zero,
                          char zero_name) {
    return number == zero ? fmt::format("{}{}", name, zero_name)
                          : fmt::format("{}{}", name, number);
}

std::int64_t sign_extend(std::uint64_t value, unsigned width) {
    return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

std::string signed_text(std::int64_t value) {
    return value < 0 ? fmt::format("-0x{:x}", -static_cast<std::uint64_t>(value))
                     : fmt::format("0x{:x}", value);
}

std::string bit_set_text(std::uint64_t value, unsigned width) {
    std::string text;
    for (unsigned i = width; i-- > 0;)
        if (value >> i & 1) text += (text.empty() ? "" : ",") + std::to_string(i);
    return "{" + text + "}";
}

std::string piece_text(const Piece& piece, const Word& word, std::uint64_t pc) {
    const std::uint64_t raw = piece.field.get(word);
    const std::uint64_t value = raw << piece.shift;
    const unsigned width = piece.field.width() + piece.shift;
    const bool condition =
        piece.condition_bit == 0 || word.bit(piece.condition_bit) == piece.condition_value;
    switch (piece.kind) {
        case PieceKind::kText:
            return std::string(table::text(piece.text));
        case PieceKind::kChoice:
            return std::string(table::text(piece.text + static_cast<unsigned>(raw)));
        case PieceKind::kRegister:
            return register_text("R", raw, 255, 'Z');
        case PieceKind::kUniformRegister:
            return register_text("UR", raw, 63, 'Z');
        case PieceKind::kPredicate:
            return register_text("P", raw, 7, 'T');
        case PieceKind::kUniformPredicate:
            return register_text("UP", raw, 7, 'T');
        case PieceKind::kInvertedPredicate:
            return register_text("P", raw ^ 7, 7, 'T');
        case PieceKind::kInvertedUniformPredicate:
            return register_text("UP", raw ^ 7, 7, 'T');
        case PieceKind::kUnsigned:
            return fmt::format("0x{:x}", value);
        case PieceKind::kSigned:
        case PieceKind::kOffset:
            return condition ? signed_text(sign_extend(value, width))
                             : fmt::format("0x{:x}", value);
        case PieceKind::kSignedUnlessZero:
            return raw == 0 ? "" : " " + signed_text(sign_extend(value, width));
        case PieceKind::kBranch:
            return signed_text(static_cast<std::int64_t>(
                static_cast<std::uint64_t>(sign_extend(value, width)) + pc + Word::kBytes));
        case PieceKind::kDecimal:
            return std::to_string(value);
        case PieceKind::kFloat32:
            return float32_text(static_cast<std::uint32_t>(raw));
        case PieceKind::kFloat64:
            return float64_text(static_cast<std::uint32_t>(raw));
        case PieceKind::kFloat16:
            return float16_text(static_cast<std::uint16_t>(raw));
        case PieceKind::kBfloat16:
            return bfloat16_text(static_cast<std::uint16_t>(raw));
        case PieceKind::kFloat16OrBfloat16:
            return condition ? bfloat16_text(static_cast<std::uint16_t>(raw))
                             : float16_text(static_cast<std::uint16_t>(raw));
        case PieceKind::kBitSet:
            return bit_set_text(raw, piece.field.width());
    }
    return {};
}

/// [R4.64+UR2+0x10], c[0x0][R4+0x10]. RZ is left out where something else is printed, an offset of
/// zero likewise; an absolute address is unsigned. sm_90 keeps RZ.64 and RZ.U32.
std::string address_text(const table::Operand& operand, const Word& word, Arch arch,
                         std::uint64_t pc) {
    std::string text, base, uniform;
    bool zero_base = false, in_bracket = false;
    for (const Piece& piece : table::pieces(operand)) {
        if (piece.kind == PieceKind::kText) {
            for (const char c : table::text(piece.text)) {
                if (c == '+') continue;
                if (c == ']' && in_bracket) {
                    if (zero_base && uniform.empty()) base = base.substr(0, base.find(".X"));
                    text += base + (base.empty() || uniform.empty() ? "" : "+") + uniform;
                    base.clear();
                    uniform.clear();
                    in_bracket = false;
                }
                // A modifier that is always there, as in [R4.64+0x10], belongs to what precedes it.
                (in_bracket ? (uniform.empty() ? base : uniform) : text) += c;
            }
            in_bracket |= text.ends_with('[');
            continue;
        }
        if (!in_bracket) {
            text += piece_text(piece, word, pc);
            continue;
        }
        if (piece.kind == PieceKind::kRegister) {
            zero_base = piece.field.get(word) == 255;
            base = piece_text(piece, word, pc);
        } else if (piece.kind == PieceKind::kSigned || piece.kind == PieceKind::kOffset ||
                   piece.kind == PieceKind::kUnsigned) {
            const std::uint64_t offset = piece.field.get(word);
            const bool bare =
                zero_base && uniform.empty() && base.substr(0, base.find(".X")) == "RZ";
            if (offset == 0 && !(base.empty() && uniform.empty())) continue;
            std::string number = piece_text(piece, word, pc);
            if (bare) {
                base.clear();
                if (piece.kind == PieceKind::kOffset)
                    number = fmt::format("0x{:x}", offset << piece.shift);
            }
            uniform += (uniform.empty() ? "" : "+") + number;
        } else if (piece.kind == PieceKind::kUniformRegister) {
            if (zero_base && (base == "RZ" || (arch < 90 && (base == "RZ.64" || base == "RZ.U32"))))
                base.clear();
            uniform = piece_text(piece, word, pc);
        } else {  // a modifier of what stands before it
            (uniform.empty() ? base : uniform) += piece_text(piece, word, pc);
        }
    }
    return text;
}

std::string operand_text(const table::Operand& operand, const Word& word, Arch arch,
                         std::uint64_t pc) {
    if (operand.address) return address_text(operand, word, arch, pc);
    std::string text;
    for (const Piece& piece : table::pieces(operand)) text += piece_text(piece, word, pc);
    return text;
}

std::string guard_text(const Word& word, bool uniform) {
    const std::uint64_t number = word.bits(12, 3);
    const bool negate = word.bit(15);
    if (number == 7 && !negate) return {};
    return fmt::format("@{}{} ", negate ? "!" : "",
                       register_text(uniform ? "UP" : "P", number, 7, 'T'));
}

bool is_power_of_two(std::uint64_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

/// What an IMAD is used for, where a source is RZ, 1 or a power of two.
std::string_view imad_alias(const Word& word) {
    constexpr unsigned kImad = 0x024, kRZ = 255;
    if (word.base_opcode() != kImad || word.uniform() || word.bit(74)) return {};
    const unsigned form = word.form();
    const bool b_is_register = form <= 3;
    const auto b = word.bits(form == 1 ? 32 : 64, 8);
    if (word.bits(24, 8) == kRZ || (b_is_register && b == kRZ)) return ".MOV";
    if (form != 4) return {};
    const auto immediate = word.bits(32, 32);
    if (immediate == 0) return ".MOV";
    const bool adds_nothing = word.bits(64, 8) == kRZ;
    if (immediate == 1) return adds_nothing ? ".MOV" : ".IADD";
    const bool shifts = is_power_of_two(immediate) && immediate != 0x10000 && immediate >> 31 == 0;
    return adds_nothing && shifts ? ".SHL" : "";
}

}  // namespace

bool is_known(Word word, Arch arch) {
    return table::find(word, arch) != nullptr;
}

std::string disassemble(Word word, Arch arch, std::uint64_t pc) {
    const table::Row* row = table::find(word, arch);
    if (row == nullptr) return fmt::format(".word 0x{:016x}, 0x{:016x}", word.lo, word.hi);
    std::string text = guard_text(word, row->uniform_guard);
    bool first = true;
    for (const table::Operand& operand : table::operands(*row)) {
        if (&operand == &table::operands(*row).front()) {
            std::string mnemonic = operand_text(operand, word, arch, pc);
            if (const auto alias = imad_alias(word); !alias.empty())
                mnemonic.insert(std::string_view("IMAD").size(), alias);
            text += mnemonic;
            continue;
        }
        if (operand.optional && operand.condition.get(word) == operand.hidden_value) continue;
        text += first ? " " : ", ";
        first = false;
        text += operand_text(operand, word, arch, pc);
    }
    constexpr Arch kFirstWithMonitorBits = 86;
    if (const auto monitor = word.bits(102, 2); monitor != 0 && arch >= kFirstWithMonitorBits)
        text += fmt::format(" ?PM{}", monitor);
    while (text.ends_with(' ')) text.pop_back();
    return text;
}

}  // namespace lockstep::sass
