// SPDX-License-Identifier: Apache-2.0
// Binding: turns an instruction word into an Instruction. Each family of semantics has one bind
// function per opcode, which asks the Binder for operands at the word's usual bit positions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/sass/program.h"
#include "isa/sass/register_use.h"
#include "isa/sass/state.h"

namespace lockstep::sass {

/// How wide an ALU source is, and what a 32-bit immediate means for it.
enum class SourceWidth : std::uint8_t {
    k32,   ///< one row
    k64,   ///< two rows; immediate sign-extended
    kF64,  ///< two rows; immediate is the upper half of a double
};

class Binder {
  public:
    Binder(Program& program, std::uint32_t index, Instruction& out)
        : word(program.words_[index]),
          arch(program.arch_),
          index(index),
          out(out),
          program_(program) {}

    const Word word;
    const Arch arch;
    const std::uint32_t index;  ///< code index of this instruction
    Instruction& out;

    /// Instructions in the program: code indices are smaller.
    std::size_t code_count() const { return program_.words_.size(); }

    // Operands at a bit position; `rows` consecutive registers are used.
    Operand source_register(unsigned bit, unsigned rows = 1);  ///< 8-bit field, RZ reads zeros
    Operand source_register(unsigned bit, unsigned rows, OperandSlot slot);
    Operand dest_register(unsigned bit = 16, unsigned rows = 1);  ///< RZ is the sink
    Operand source_uniform(unsigned bit, unsigned rows = 1);      ///< 6-bit field, URZ reads zeros
    Operand dest_uniform(unsigned bit = 16, unsigned rows = 1);
    Operand barrier_register(unsigned bit, bool is_write);  ///< 4-bit field: B0-B15
    Operand return_register(unsigned bit);  ///< a half of Rpc: 0 the lower one, 1 the upper one
    void note_word_swap() { program_.swaps_words_ = true; }
    PredicateSource source_predicate(unsigned bit, unsigned negate_bit);
    PredicateSource source_uniform_predicate(unsigned bit, unsigned negate_bit);
    /// The same where the field holds the predicate's complement.
    PredicateSource source_inverted_uniform_predicate(unsigned bit, unsigned negate_bit);
    std::uint8_t dest_predicate(unsigned bit);  ///< PT becomes the sink
    std::uint8_t dest_uniform_predicate(unsigned bit);

    // Rows of the launch's literal table.
    Operand literal(std::uint32_t value);
    Operand literal64(std::uint64_t value);
    Operand constant(unsigned bank, std::uint32_t byte_offset, unsigned rows = 1);

    /// out.a = Ra at 24, out.b = what the operand form (bits 9-11) says: Rb, immediate, constant
    /// or uniform register. For opcodes whose second source is the flexible one.
    void sources_ab(SourceWidth width = SourceWidth::k32);
    /// Likewise for FADD and its kin, whose flexible source is read where the third of FFMA is;
    /// where it is a register, it stands at `register_bit`.
    void sources_ac(SourceWidth width = SourceWidth::k32, unsigned register_bit = 32);
    /// out.a, out.b, out.c for three-source opcodes: the flexible operand is b in the forms RRR,
    /// RIR, RCR, RUR and c in RRI, RRC, RRU (then b comes from bits 64-71).
    void sources_abc(SourceWidth width = SourceWidth::k32);
    /// Widths by source, for IMAD.WIDE and the like.
    void sources_abc(SourceWidth a, SourceWidth b, SourceWidth c);
    /// out.b alone is flexible (one-source opcodes: MOV, MUFU, F2I, ...).
    void source_b(SourceWidth width = SourceWidth::k32);
    /// The flexible operand that the form selects at bits 32-63.
    Operand flexible(SourceWidth width);
    bool flexible_is_immediate() const;
    bool flexible_is_register() const;
    /// Sources and destination of the uniform datapath: UR fields at the same positions.
    void uniform_source_b(SourceWidth width = SourceWidth::k32);
    void uniform_sources_ab(SourceWidth width = SourceWidth::k32);
    void uniform_sources_abc(SourceWidth width = SourceWidth::k32);
    void uniform_sources_abc(SourceWidth a, SourceWidth b, SourceWidth c);

    /// False once an operand was asked for that is not executed yet.
    bool supported() const { return supported_; }

    /// To be called when everything else is bound: wraps the handler of an instruction that has a
    /// bindless constant (cx[UR][offset]) as its flexible operand.
    void finish();

    /// Makes the instruction execute once for the warp (uniform datapath).
    void execute_uniformly(Execute execute);

    /// Registers that the operands asked for so far read and write.
    std::span<const RegisterUse> uses() const { return uses_; }

  private:
    void note(RegisterFile file, OperandSlot slot, unsigned number, unsigned count, bool is_write,
              std::uint32_t offset = 0);
    unsigned width_rows(SourceWidth width) const { return width == SourceWidth::k32 ? 1 : 2; }
    PredicateSource uniform_predicate(unsigned bit, unsigned number, unsigned negate_bit);
    Operand uniform_flexible(SourceWidth width);
    /// cx[UR][offset]: a scratch row, which finish() arranges to be filled before the handler runs.
    Operand bindless_constant();

    bool supported_ = true;
    bool is_bindless_ = false;
    Program& program_;
    std::vector<RegisterUse> uses_;
};

/// Binds one word; returns false where the combination of modifiers is not executed (yet).
using Bind = bool (*)(Binder&);

/// A row of a family's table: which opcodes it binds.
struct BindEntry {
    std::uint16_t base_opcode;  ///< bits 0-8
    Bind bind;
    Arch first_arch = 70;
    Arch last_arch = 90;
};

/// The families. Each is a folder's or file's table; semantics.cpp gathers them.
std::span<const BindEntry> integer_semantics();
std::span<const BindEntry> integer_add_semantics();
std::span<const BindEntry> integer_multiply_semantics();
std::span<const BindEntry> logic_semantics();
std::span<const BindEntry> shift_semantics();
std::span<const BindEntry> bit_field_semantics();
std::span<const BindEntry> video_semantics();
std::span<const BindEntry> dpx_semantics();
std::span<const BindEntry> predicate_semantics();
std::span<const BindEntry> warp_semantics();
std::span<const BindEntry> uniform_semantics();
std::span<const BindEntry> float_semantics();
std::span<const BindEntry> half_semantics();
std::span<const BindEntry> double_semantics();
std::span<const BindEntry> conversion_semantics();
std::span<const BindEntry> mufu_semantics();
std::span<const BindEntry> memory_semantics();
std::span<const BindEntry> atomic_semantics();
std::span<const BindEntry> async_copy_semantics();
std::span<const BindEntry> texture_semantics();
std::span<const BindEntry> tensor_semantics();
std::span<const BindEntry> control_flow_semantics();
std::span<const BindEntry> jump_semantics();
std::span<const BindEntry> barrier_semantics();
std::span<const BindEntry> cluster_semantics();
std::span<const BindEntry> special_register_semantics();

/// The entry that binds this word on this arch, or nullptr.
const BindEntry* find_bind_entry(const Word& word, Arch arch);

}  // namespace lockstep::sass
