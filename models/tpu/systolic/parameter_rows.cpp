// SPDX-License-Identifier: Apache-2.0
// The parameters of a bare array: a row each.
#include "models/tpu/systolic/parameter_rows.h"

namespace lockstep::tpu {

namespace {

using config::Row;
using config::Type;

std::span<const Row<ArrayShape>> shape_rows() {
    static const std::vector<Row<ArrayShape>> kRows{
        {"array.rows", &ArrayShape::rows, "1", 1, 4096, "PEs from north to south"},
        {"array.columns", &ArrayShape::columns, "1", 1, 4096, "PEs from west to east"},
    };
    return kRows;
}

std::span<const Row<ArrayParameters>> array_rows() {
    static const std::vector<Row<ArrayParameters>> kRows{
        Row<ArrayParameters>{"array.dataflow", Type::kText, "1", 0, 0, "what stays in the PEs"}
            .one_of(kDataflows),
        Row<ArrayParameters>{"array.overlap", Type::kText, "1", 0, 0,
                             "of a fold with the one before"}
            .one_of(kOverlaps),
        Row<ArrayParameters>{"array.fidelity", &ArrayParameters::fidelity,
                             "how finely it is simulated; all agree"}
            .one_of(kFidelities),
        {"clock.array", &ArrayParameters::clock_mhz, "MHz", 1, 10000, "clock of the array"},
    };
    return kRows;
}

}  // namespace

void read_parameters(const config::Machine& machine, ArrayParameters& into) {
    read_rows(machine, shape_rows(), into.shape);
    read_rows(machine, array_rows(), into);
}

std::vector<config::Entry> array_entries() {
    std::vector<config::Entry> entries;
    append_entries(entries, shape_rows());
    append_entries(entries, array_rows());
    return entries;
}

}  // namespace lockstep::tpu
