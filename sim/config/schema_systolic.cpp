// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

namespace {

constexpr Entry kSystolic[] = {
    {"array.rows", Type::kInteger, "1", 1, 4096, "PEs from north to south"},
    {"array.columns", Type::kInteger, "1", 1, 4096, "PEs from west to east"},
    {"array.dataflow", Type::kText, "1", 0, 0,
     "what stays in the PEs: ws (weights), os (outputs), is (inputs)"},
    {"array.overlap", Type::kText, "1", 0, 0,
     "of a fold with the one before: none, drain (fill and drain hidden), double (load too)"},
    {"array.fidelity", Type::kText, "1", 0, 0,
     "netlist (up to 32x32), registers, wavefront (closed form), auto (registers, or wavefront for "
     "large runs); all agree"},
    {"clock.array", Type::kNumber, "MHz", 1, 10000, "clock of the array"},
};

}  // namespace

std::span<const Entry> systolic() {
    return kSystolic;
}

}  // namespace lockstep::config
