// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a NPU program file and as assembler text. Only InputError may come
// out, and what is read must survive being written.
#include <string_view>

#include "isa/npu/program.h"
#include "sim/error/error.h"

using namespace lockstep;

namespace {

void check(const npu::Program& program) {
    LOCKSTEP_CHECK(npu::read_program(npu::write_program(program), "y") == program,
                   "changed by its file");
    LOCKSTEP_CHECK(npu::assemble(npu::listing(program, true), "y") == program,
                   "changed by its listing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    try {
        check(npu::is_program({data, size})
                  ? npu::read_program({data, size}, "x")
                  : npu::assemble({reinterpret_cast<const char*>(data), size}, "x"));
    } catch (const InputError&) {
    }
    return 0;
}
