// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/loops.h"

#include <fmt/format.h>

#include "isa/command/disassembler.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

using enum Field;

void check_loops(const Program& program) {
    const Instruction* keeps = nullptr;
    const auto fault = [&](const Instruction& i, const char* reason) {
        throw ProgramFault(fmt::format("{}: {}", command::disassemble(i), reason));
    };
    for (const Instruction& i : program.instructions) {
        if (i.queue() != Queue::kVector) continue;
        if (keeps != nullptr && !i.continues_loop())
            fault(*keeps, "the next instruction of the vector unit does not take what is kept");
        if (i.continues_loop()) {
            if (keeps == nullptr) fault(i, "takes what no instruction before has kept");
            if ((*keeps)[kRows] != i[kRows] || (*keeps)[kColumns] != i[kColumns])
                fault(i, "takes values of other rows or columns than are kept");
        }
        keeps = i.flag(kKeeps) ? &i : nullptr;
    }
    if (keeps != nullptr) fault(*keeps, "no instruction takes what is kept");
}

}  // namespace lockstep::tpu
