// SPDX-License-Identifier: Apache-2.0
// Source lines of instructions, where the cubin has them (nvcc -lineinfo or -G).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "isa/cubin/cubin.h"

namespace lockstep::cubin {

class LineTable {
  public:
    /// Reads .debug_line. It is read for the sake of messages only: where it is malformed, or of a
    /// kind that is not known, what came before that is kept.
    explicit LineTable(const Cubin& cubin);

    bool empty() const { return rows_.empty(); }
    /// "file.cu:12" of the instruction at a byte offset of a section, or "".
    std::string find(std::uint32_t section, std::uint64_t offset) const;

  private:
    friend class LineProgram;
    /// Holds from its offset to the next row's; line 0: no line.
    struct Row {
        std::uint32_t section;
        std::uint64_t offset;
        std::uint32_t file, line;
    };
    std::vector<std::string> files_;
    std::vector<Row> rows_;  ///< by section and offset
};

}  // namespace lockstep::cubin
