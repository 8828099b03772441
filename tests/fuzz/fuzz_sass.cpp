// SPDX-License-Identifier: Apache-2.0
// Any 16 bytes are an instruction to the disassembler, on every architecture.
#include <cstddef>
#include <cstdint>

#include "isa/sass/disassembler/disassembler.h"
#include "isa/sass/disassembler/encoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace lockstep::sass;
    for (; size >= Word::kBytes; data += Word::kBytes, size -= Word::kBytes) {
        const Word word = Word::load(data);
        for (const Arch arch : {0, 70, 75, 80, 86, 89, 90}) {
            if (disassemble(word, arch, size).empty()) __builtin_trap();
            const Decoded decoded = decode(word, arch);
            if ((decoded.row != nullptr) != is_known(word, arch)) __builtin_trap();
            if (decoded.row == nullptr) continue;
            const Word covered = covered_bits(*decoded.row), again = encode(decoded);
            Word read = word;
            if (arch == 70) read.set_bits(91, 1, 0);  // sm_70 ignores this bit, so it is lost
            if (again.lo != (read.lo & covered.lo) || again.hi != (read.hi & covered.hi))
                __builtin_trap();
        }
    }
    return 0;
}
