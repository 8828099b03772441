// SPDX-License-Identifier: Apache-2.0
// Rows between host memory or memory and the unified buffer.
#include "isa/tpu/operands/shared.h"

namespace lockstep::tpu {

using enum Field;

void touch_transfer_in(const Instruction& i, Footprint& footprint) {
    const bool host = i.opcode() == Opcode::kReadHost;
    footprint.add_rows(host ? Space::kHost : Space::kMemory, false, i[host ? kHost : kMemory],
                       i[kRows], i[kSourcePitch], i[kRowBytes]);
    footprint.add_rows(kBuffer, true, i[kDestination], i[kRows], i[kDestinationPitch],
                       i[kRowBytes]);
}

void touch_transfer_out(const Instruction& i, Footprint& footprint) {
    const bool host = i.opcode() == Opcode::kWriteHost;
    footprint.add_rows(kBuffer, false, i[kSource], i[kRows], i[kSourcePitch], i[kRowBytes]);
    footprint.add_rows(host ? Space::kHost : Space::kMemory, true, i[host ? kHost : kMemory],
                       i[kRows], i[kDestinationPitch], i[kRowBytes]);
}

void touch_gather(const Instruction& i, Footprint& footprint) {
    footprint.add(kBuffer, false, i[kIndices], i[kIndices] + 4 * i[kRows]);
    footprint.add_rows(kBuffer, true, i[kDestination], i[kRows], i[kDestinationPitch],
                       i[kRowBytes]);
}

}  // namespace lockstep::tpu
