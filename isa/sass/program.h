// SPDX-License-Identifier: Apache-2.0
// The bound code of one module: instructions of all its functions in one flat index space, and the
// literals they refer to.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "isa/sass/instruction.h"
#include "isa/sass/register_use.h"
#include "isa/sass/row.h"
#include "isa/sass/word.h"

namespace lockstep::sass {

/// What a literal row holds in all lanes: an immediate, or a 32-bit word of a constant bank.
struct Literal {
    bool is_constant = false;
    std::uint8_t bank = 0;
    std::uint32_t value = 0;  ///< the immediate, or the byte offset in the bank
    friend constexpr auto operator<=>(const Literal&, const Literal&) = default;
};

class Program {
  public:
    struct Function {
        std::string name;
        std::uint32_t first = 0;  ///< code index
        std::uint32_t count = 0;  ///< instructions
        bool is_kernel = false;
        bool bound = false;
    };

    /// Code addresses as the program sees them (return addresses, function pointers): byte
    /// addresses from code_base. System calls are addresses below it.
    static constexpr std::uint64_t kCodeBase = 0x0000'0100'0000'0000ull;
    static constexpr std::uint64_t kSystemCallBase = 0x0000'00ff'0000'0000ull;

    explicit Program(Arch arch) : arch_(arch) {}

    /// Appends a function's code (after relocation); returns its code index. Not yet bound.
    std::uint32_t add_function(std::string name, bool is_kernel, std::span<const std::byte> code);

    /// Binds the function that starts at this code index, and all device functions. Idempotent.
    /// Instructions that are not known or not executed yet are bound to a fault of their own.
    void bind(std::uint32_t first);

    Arch arch() const { return arch_; }
    std::span<const Instruction> code() const { return code_; }
    std::span<const Word> words() const { return words_; }
    std::span<const Literal> literals() const { return literals_; }
    std::span<const Function> functions() const { return functions_; }
    const Function* function_at(std::uint32_t index) const;
    /// Registers that the bound instruction at this code index reads and writes, its guard
    /// included.
    std::span<const RegisterUse> uses(std::uint32_t index) const {
        const UseRange& range = use_ranges_[index];
        return std::span(uses_).subspan(range.first, range.count);
    }
    /// Rows a warp needs for the registers that bound code names.
    std::uint32_t rows() const { return rows_; }
    /// Uniform registers and convergence barriers that bound code names: rows to be zeroed.
    std::uint32_t uniform_rows() const { return uniform_rows_; }
    std::uint32_t barrier_rows() const { return barrier_rows_; }
    /// Bound code compares and swaps 32-bit words.
    bool swaps_words() const { return swaps_words_; }

    static std::uint64_t address_of(std::uint32_t index) {
        return kCodeBase + std::uint64_t{index} * Word::kBytes;
    }

  private:
    friend class Binder;
    struct UseRange {
        std::uint32_t first = 0, count = 0;
    };

    Arch arch_;
    std::vector<Word> words_;
    std::vector<Instruction> code_;
    std::vector<RegisterUse> uses_;
    std::vector<UseRange> use_ranges_;  ///< by code index
    std::vector<Literal> literals_;
    std::map<Literal, std::uint32_t> literal_index_;  ///< of single literals, for sharing
    std::vector<Function> functions_;
    std::uint32_t rows_ = kRegisterRow;
    std::uint32_t uniform_rows_ = 0;
    std::uint32_t barrier_rows_ = 0;
    bool swaps_words_ = false;
};

}  // namespace lockstep::sass
