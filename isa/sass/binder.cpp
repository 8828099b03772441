// SPDX-License-Identifier: Apache-2.0
// Operand fields of the SASS word (gpu microarchitecture notes: "common 128-bit word"): Rd 16-23,
// Ra 24-31, Rb 32-39, imm32 32-63, constant offset 38-53 and bank 54-58, UR 32-37, Rc 64-71.
#include "isa/sass/binder.h"

#include <algorithm>
#include <cstring>

namespace lockstep::sass {

namespace {

/// Of an operand whose field begins at a bit, unless its opcode has it elsewhere.
constexpr OperandSlot slot_at(unsigned bit) {
    return bit == 24               ? OperandSlot::kA
           : bit >= 32 && bit < 64 ? OperandSlot::kB
           : bit == 64             ? OperandSlot::kC
           : bit == 16             ? OperandSlot::kDestination
                                   : OperandSlot::kOther;
}

constexpr unsigned kBindlessHandleBit = 32;
/// Where the words of cx[UR][offset] are put: the end of the sink, which no destination of an
/// instruction with a constant operand is long enough to reach.
constexpr unsigned kBindlessRow = kSinkRow + 6;

/// cx[UR][offset]: UR, UR+1 hold address / 16 (45 bits) and bytes / 16 (19 bits) of a constant
/// buffer; reads past its end return zero. Source: descriptors of Mesa's nvk driver.
void execute_with_bindless_constant(const Instruction& in, Warp& warp) {
    const Launch& launch = *warp.cta->launch;
    const Word& word = launch.program->words()[&in - launch.program->code().data()];
    const auto number = static_cast<unsigned>(word.bits(kBindlessHandleBit, 6));
    const unsigned row = number == kUniformURZ ? kZeroRow : kUniformRow + number;
    const Row* handle = &warp.row(Operand::of_warp(row));
    const std::uint64_t descriptor = handle[0].lane[0] | std::uint64_t{handle[1].lane[0]} << 32;
    const std::uint64_t address = (descriptor & ((1ull << 45) - 1)) << 4;
    const std::uint64_t size = descriptor >> 45 << 4;
    const std::uint64_t offset = word.bits(38, 16) & ~3u;
    Row* scratch = &warp.row(Operand::of_warp(kBindlessRow));
    for (unsigned i = 0; i < 2; ++i) {
        std::uint32_t value = 0;
        const std::uint64_t at = address + offset + 4 * i;
        if (offset + 4 * i + 4 <= size) {
            const Extent extent = launch.memory->find(at);
            if (!extent.contains(at, 4))
                throw Fault{.kind = FaultKind::kIllegalAddress,
                            .what = "bindless constant: " + launch.memory->describe(at),
                            .address = at,
                            .bytes = 4,
                            .space = Space::kConstant};
            std::memcpy(&value, extent.at(at), 4);
        }
        std::fill_n(scratch[i].lane, kWarpSize, value);
    }
    in.inner(in, warp);
}

}  // namespace

void Binder::note(RegisterFile file, OperandSlot slot, unsigned number, unsigned count,
                  bool is_write, std::uint32_t offset) {
    uses_.push_back({file, slot, is_write, static_cast<std::uint8_t>(number),
                     static_cast<std::uint8_t>(count), static_cast<std::uint16_t>(offset)});
}

Operand Binder::source_register(unsigned bit, unsigned rows) {
    return source_register(bit, rows, slot_at(bit));
}

Operand Binder::source_register(unsigned bit, unsigned rows, OperandSlot slot) {
    const auto number = static_cast<unsigned>(word.bits(bit, 8));
    if (number == kRegisterRZ) return Operand::of_warp(kZeroRow);
    note(RegisterFile::kVector, slot, number, rows, false);
    program_.rows_ = std::max(program_.rows_, kRegisterRow + number + rows);
    return Operand::of_warp(kRegisterRow + number);
}

Operand Binder::dest_register(unsigned bit, unsigned rows) {
    const auto number = static_cast<unsigned>(word.bits(bit, 8));
    if (number == kRegisterRZ) return Operand::of_warp(kSinkRow);
    note(RegisterFile::kVector, slot_at(bit), number, rows, true);
    program_.rows_ = std::max(program_.rows_, kRegisterRow + number + rows);
    return Operand::of_warp(kRegisterRow + number);
}

Operand Binder::source_uniform(unsigned bit, unsigned rows) {
    const auto number = static_cast<unsigned>(word.bits(bit, 6));
    if (number == kUniformURZ) return Operand::of_warp(kZeroRow);
    note(RegisterFile::kUniform, slot_at(bit), number, rows, false);
    program_.uniform_rows_ = std::max(program_.uniform_rows_, std::min(number + rows, 64u));
    return Operand::of_warp(kUniformRow + number);
}

Operand Binder::dest_uniform(unsigned bit, unsigned rows) {
    const auto number = static_cast<unsigned>(word.bits(bit, 6));
    if (number == kUniformURZ) return Operand::of_warp(kSinkRow);
    note(RegisterFile::kUniform, slot_at(bit), number, rows, true);
    program_.uniform_rows_ = std::max(program_.uniform_rows_, std::min(number + rows, 64u));
    return Operand::of_warp(kUniformRow + number);
}

Operand Binder::barrier_register(unsigned bit, bool is_write) {
    const auto number = static_cast<unsigned>(word.bits(bit, 4));
    program_.barrier_rows_ = std::max(program_.barrier_rows_, number + 1);
    note(RegisterFile::kBarrier, slot_at(bit), number, 1, is_write);
    return Operand::of_warp(kBarrierRow + number);
}

Operand Binder::return_register(unsigned bit) {
    program_.barrier_rows_ = std::max(program_.barrier_rows_, kRegisterRow - kBarrierRow);
    return Operand::of_warp(kReturnRow + word.bit(bit));
}

PredicateSource Binder::source_predicate(unsigned bit, unsigned negate_bit) {
    const auto number = static_cast<std::uint8_t>(word.bits(bit, 3));
    if (number != kPredicatePT) note(RegisterFile::kPredicate, slot_at(bit), number, 1, false);
    return {number, word.bit(negate_bit)};
}

PredicateSource Binder::uniform_predicate(unsigned bit, unsigned number, unsigned negate_bit) {
    if (number != kPredicatePT)
        note(RegisterFile::kUniformPredicate, slot_at(bit), number, 1, false);
    return {static_cast<std::uint8_t>(kUniformPredicate0 + number), word.bit(negate_bit)};
}

PredicateSource Binder::source_uniform_predicate(unsigned bit, unsigned negate_bit) {
    return uniform_predicate(bit, static_cast<unsigned>(word.bits(bit, 3)), negate_bit);
}

PredicateSource Binder::source_inverted_uniform_predicate(unsigned bit, unsigned negate_bit) {
    return uniform_predicate(bit, kPredicatePT - static_cast<unsigned>(word.bits(bit, 3)),
                             negate_bit);
}

std::uint8_t Binder::dest_predicate(unsigned bit) {
    const auto number = static_cast<std::uint8_t>(word.bits(bit, 3));
    if (number == kPredicatePT) return kPredicateSink;
    note(RegisterFile::kPredicate, slot_at(bit), number, 1, true);
    return number;
}

std::uint8_t Binder::dest_uniform_predicate(unsigned bit) {
    const auto number = static_cast<std::uint8_t>(word.bits(bit, 3));
    if (number == kPredicatePT) return kPredicateSink;
    note(RegisterFile::kUniformPredicate, slot_at(bit), number, 1, true);
    return static_cast<std::uint8_t>(kUniformPredicate0 + number);
}

Operand Binder::literal(std::uint32_t value) {
    const Literal key{.is_constant = false, .bank = 0, .value = value};
    const auto [it, is_new] = program_.literal_index_.try_emplace(
        key, static_cast<std::uint32_t>(program_.literals_.size()));
    if (is_new) program_.literals_.push_back(key);
    return Operand::of_literal(it->second);
}

Operand Binder::literal64(std::uint64_t value) {
    const auto row = static_cast<unsigned>(program_.literals_.size());
    program_.literals_.push_back({false, 0, static_cast<std::uint32_t>(value)});
    program_.literals_.push_back({false, 0, static_cast<std::uint32_t>(value >> 32)});
    return Operand::of_literal(row);
}

Operand Binder::constant(unsigned bank, std::uint32_t byte_offset, unsigned rows) {
    const Literal key{true, static_cast<std::uint8_t>(bank), byte_offset};
    note(RegisterFile::kConstant, slot_at(32), bank, rows, false, byte_offset);
    if (rows == 1) {
        const auto [it, is_new] = program_.literal_index_.try_emplace(
            key, static_cast<std::uint32_t>(program_.literals_.size()));
        if (is_new) program_.literals_.push_back(key);
        return Operand::of_literal(it->second);
    }
    const auto row = static_cast<unsigned>(program_.literals_.size());
    for (unsigned i = 0; i < rows; ++i)
        program_.literals_.push_back({true, key.bank, byte_offset + 4 * i});
    return Operand::of_literal(row);
}

bool Binder::flexible_is_immediate() const {
    return word.form() == 2 || word.form() == 4;
}
bool Binder::flexible_is_register() const {
    return word.form() == 1;
}

Operand Binder::flexible(SourceWidth width) {
    const unsigned rows = width_rows(width);
    switch (word.form()) {
        case 2:
        case 4: {
            const auto value = static_cast<std::uint32_t>(word.bits(32, 32));
            if (width == SourceWidth::k32) return literal(value);
            if (width == SourceWidth::kF64) return literal64(std::uint64_t{value} << 32);
            return literal64(static_cast<std::uint64_t>(
                static_cast<std::int64_t>(static_cast<std::int32_t>(value))));
        }
        case 3:
        case 5:
            if (word.uniform()) return bindless_constant();
            return constant(static_cast<unsigned>(word.bits(54, 5)),
                            static_cast<std::uint32_t>(word.bits(38, 16)), rows);
        case 6:
        case 7:
            return source_uniform(32, rows);
        default:
            return source_register(32, rows);
    }
}

Operand Binder::bindless_constant() {
    source_uniform(kBindlessHandleBit, 2);
    is_bindless_ = true;
    return Operand::of_warp(kBindlessRow);
}

void Binder::finish() {
    if (!is_bindless_) return;
    if (out.inner != nullptr) {
        supported_ = false;  // no instruction of the uniform datapath has such an operand
        return;
    }
    out.inner = out.execute;
    out.execute = execute_with_bindless_constant;
}

void Binder::sources_ab(SourceWidth width) {
    out.a = source_register(24, width_rows(width));
    out.b = flexible(width);
}

void Binder::sources_ac(SourceWidth width, unsigned register_bit) {
    const unsigned rows = width_rows(width);
    out.a = source_register(24, rows);
    out.b = flexible_is_register() ? source_register(register_bit, rows, OperandSlot::kC)
                                   : flexible(width);
}

void Binder::sources_abc(SourceWidth width) {
    sources_abc(width, width, width);
}

void Binder::sources_abc(SourceWidth a, SourceWidth b, SourceWidth c) {
    out.a = source_register(24, width_rows(a));
    const unsigned form = word.form();
    if (form == 2 || form == 3 || form == 7) {
        out.b = source_register(64, width_rows(b), OperandSlot::kB);
        out.c = flexible(c);
    } else {
        out.b = flexible(b);
        out.c = source_register(64, width_rows(c));
    }
}

void Binder::source_b(SourceWidth width) {
    out.b = flexible(width);
}

void Binder::uniform_source_b(SourceWidth width) {
    out.b = uniform_flexible(width);
}

Operand Binder::uniform_flexible(SourceWidth width) {
    return word.form() == 1 || word.form() >= 6 ? source_uniform(32, width_rows(width))
                                                : flexible(width);
}

void Binder::uniform_sources_ab(SourceWidth width) {
    out.a = source_uniform(24, width_rows(width));
    out.b = uniform_flexible(width);
}

void Binder::uniform_sources_abc(SourceWidth width) {
    uniform_sources_abc(width, width, width);
}

void Binder::uniform_sources_abc(SourceWidth a, SourceWidth b, SourceWidth c) {
    out.a = source_uniform(24, width_rows(a));
    if (word.form() == 2) {
        out.b = source_uniform(64, width_rows(b));
        out.c = uniform_flexible(c);
    } else {
        out.b = uniform_flexible(b);
        out.c = source_uniform(64, width_rows(c));
    }
}

void Binder::execute_uniformly(Execute execute) {
    out.inner = execute;
    out.execute = [](const Instruction& in, Warp& warp) {
        warp.mask = kAllLanes;
        in.inner(in, warp);
    };
}

}  // namespace lockstep::sass
