// SPDX-License-Identifier: Apache-2.0
// The assembler copies each cubin into the object file.
#include "validation/measure/probe_images.h"

#define EMBED(arch)                                                                                \
    asm(".pushsection .rodata\n.balign 16\nlockstep_probes_" #arch ":\n.incbin \"" LOCKSTEP_PROBES \
        "/sm_" #arch "/probes.cubin\"\nlockstep_probes_" #arch "_end:\n.byte 0\n.popsection\n");   \
    extern "C" [[gnu::visibility("hidden")]] const std::uint8_t lockstep_probes_##arch[];          \
    extern "C" [[gnu::visibility("hidden")]] const std::uint8_t lockstep_probes_##arch##_end[];

EMBED(75)
EMBED(80)
EMBED(86)
EMBED(90)

namespace lockstep::validation {

std::span<const std::uint8_t> probe_image(int arch) {
    if (arch >= 90 && arch < 100) return {lockstep_probes_90, lockstep_probes_90_end};
    if (arch >= 86 && arch < 90) return {lockstep_probes_86, lockstep_probes_86_end};
    if (arch >= 80 && arch < 86) return {lockstep_probes_80, lockstep_probes_80_end};
    if (arch >= 75 && arch < 80) return {lockstep_probes_75, lockstep_probes_75_end};
    return {};
}

}  // namespace lockstep::validation
