// SPDX-License-Identifier: Apache-2.0
// Which ranges an instruction reads and writes: what waits are computed from, and what models check
// bounds and missing waits with.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "isa/command/instruction.h"
#include "sim/error/error.h"

namespace lockstep::command {

/// How an instruction goes over a range: what models count the accesses of a banked buffer by.
enum class Pattern : std::uint8_t {
    kOnce,     ///< a block, once: parameters, tables, indices
    kRows,     ///< Access::rows of them
    kWindows,  ///< pixels of images that begin at Access::base, by the ISA's windows
};

/// [begin, end) in the space's own unit. Strided accesses are one range around all.
struct Access {
    Id space;
    bool write;
    std::uint64_t begin, end;
    Pattern pattern = Pattern::kOnce;
    std::uint64_t base = 0;             ///< of the first row or of the images
    std::uint64_t rows = 0, pitch = 0;  ///< of kRows
    std::uint64_t bytes = 0;            ///< of a row or a pixel
};

class Footprint {
  public:
    std::span<const Access> accesses() const { return {list_.data(), count_}; }
    void add(Id space, bool write, std::uint64_t begin, std::uint64_t end) {
        add({space, write, begin, end});
    }
    /// `rows` rows of `bytes`, `pitch` apart.
    void add_rows(Id space, bool write, std::uint64_t begin, std::uint64_t rows,
                  std::uint64_t pitch, std::uint64_t bytes) {
        if (rows == 0 || bytes == 0) return;
        add({space, write, begin, begin + (rows - 1) * pitch + bytes, Pattern::kRows, begin, rows,
             pitch, bytes});
    }
    /// Pixels of `bytes` within [begin, end), of images that begin at `base`.
    void add_windows(Id space, std::uint64_t begin, std::uint64_t end, std::uint64_t base,
                     std::uint64_t bytes) {
        add({space, false, begin, end, Pattern::kWindows, base, 0, 0, bytes});
    }

  private:
    void add(const Access& access) {
        if (access.begin >= access.end) return;
        LOCKSTEP_CHECK(count_ < list_.size(), "an instruction with more than {} accesses",
                       list_.size());
        list_[count_++] = access;
    }
    std::array<Access, 6> list_{};
    std::size_t count_ = 0;
};

inline Footprint footprint(const Instruction& instruction) {
    Footprint result;
    if (const auto touch = instruction.row().touch) touch(instruction, result);
    return result;
}

/// What is wrong with the numbers of an instruction by itself (a zero stride, a type that the
/// instruction does not take); empty where nothing is.
inline std::string check_operands(const Instruction& instruction) {
    const auto check = instruction.row().check;
    return check == nullptr ? "" : check(instruction);
}

}  // namespace lockstep::command
