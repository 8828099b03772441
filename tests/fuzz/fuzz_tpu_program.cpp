// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a TPU program file and as assembler text. Only InputError may come
// out, and what is read must survive being written.
#include <string_view>

#include "isa/tpu/program.h"
#include "sim/error/error.h"

using namespace lockstep;

namespace {

void check(const tpu::Program& program) {
    LOCKSTEP_CHECK(tpu::read_program(tpu::write_program(program), "y") == program,
                   "changed by its file");
    LOCKSTEP_CHECK(tpu::assemble(tpu::listing(program, true), "y") == program,
                   "changed by its listing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        check(tpu::is_program({data, size})
                  ? tpu::read_program({data, size}, "x")
                  : tpu::assemble({reinterpret_cast<const char*>(data), size}, "x"));
    } catch (const InputError&) {
    }
    return 0;
}
