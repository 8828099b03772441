// SPDX-License-Identifier: Apache-2.0
// A warp to try single instructions on: words are bound by Program as for a launch, registers are
// set and read by number, constant bank 0 holds what the test puts there.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <vector>

#include "isa/sass/program.h"
#include "isa/sass/state.h"
#include "isa/sass/word.h"

namespace lockstep::sass {

/// A field of a word: first bit, bits, value.
struct Field {
    unsigned first;
    unsigned count;
    std::uint64_t value;
};

/// A word with guard PT, no destination or source predicates, and the given fields over that.
inline Word make_word(unsigned opcode, std::initializer_list<Field> fields) {
    Word word;
    word.set_bits(0, 12, opcode);
    for (const unsigned predicate : {12u, 81u, 84u, 87u}) word.set_bits(predicate, 3, 7);
    for (const Field& field : fields) word.set_bits(field.first, field.count, field.value);
    return word;
}

/// Registers at their usual places: d at 16, a at 24, b at 32, c at 64.
inline Word make_word(unsigned opcode, unsigned d, unsigned a, unsigned b, unsigned c,
                      std::initializer_list<Field> fields = {}) {
    Word word = make_word(opcode, {{16, 8, d}, {24, 8, a}, {32, 8, b}, {64, 8, c}});
    for (const Field& field : fields) word.set_bits(field.first, field.count, field.value);
    return word;
}

class TestWarp {
  public:
    explicit TestWarp(Arch arch = 90) : arch_(arch), rows_(kRegisterRow + 256) {
        warp.bases[0] = reinterpret_cast<std::byte*>(rows_.data());
        warp.predicate[kPredicatePT] = warp.predicate[kPredicateUPT] = kAllLanes;
    }

    /// Binds and executes one word for the lanes of mask. False: it is not executed.
    bool run(const Word& word, std::uint32_t mask = kAllLanes) {
        try {
            execute(word, mask);
        } catch (const Fault&) {
            return false;
        }
        return true;
    }

    /// The same; throws Fault.
    void execute(const Word& word, std::uint32_t mask = kAllLanes) {
        const Instruction& bound = bind(word).code()[0];
        warp.mask = mask;
        bound.execute(bound, warp);
    }

    /// A program of this word; it lives as long as the warp.
    const Program& bind(const Word& word) {
        Program& program = programs_.emplace_back(arch_);
        std::array<std::byte, Word::kBytes> bytes;
        std::memcpy(bytes.data(), &word, Word::kBytes);
        program.add_function("test", true, bytes);
        program.bind(0);
        literals_.clear();
        for (const Literal& literal : program.literals()) {
            const std::uint32_t value =
                literal.is_constant ? constant.at(literal.value / 4) : literal.value;
            Row& row = literals_.emplace_back();
            for (std::uint32_t& lane : row.lane) lane = value;
        }
        warp.bases[1] = reinterpret_cast<std::byte*>(literals_.data());
        return program;
    }

    Row& operator[](unsigned number) { return warp.register_row(number); }
    /// 64-bit value of a lane in registers number and number + 1.
    std::uint64_t get64(unsigned number, unsigned lane) {
        return (*this)[number].lane[lane] | std::uint64_t{(*this)[number + 1].lane[lane]} << 32;
    }
    void set64(unsigned number, unsigned lane, std::uint64_t value) {
        (*this)[number].lane[lane] = static_cast<std::uint32_t>(value);
        (*this)[number + 1].lane[lane] = static_cast<std::uint32_t>(value >> 32);
    }

    Warp warp;
    std::array<std::uint32_t, 256> constant = {};

  private:
    Arch arch_;
    std::vector<Row> rows_;
    std::vector<Row> literals_;  // of the word bound last
    std::deque<Program> programs_;
};

}  // namespace lockstep::sass
