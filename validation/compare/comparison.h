// SPDX-License-Identifier: Apache-2.0
// One workload on the silicon, and on emulator and cycle model.
#pragma once

#include <string>
#include <vector>

#include "validation/compare/suite.h"
#include "validation/measure/record.h"

namespace lockstep::validation {

/// A pair's counters and the file they stand in.
struct StoredCounters {
    const CountedPair* pair = nullptr;
    const CounterFile* file = nullptr;
    std::string name;
};

/// What is stored of a pair.
struct StoredPair {
    MeasuredPair measured;
    Provenance provenance;
    std::string file;
    StoredCounters cold, warm;
    std::string outputs;  ///< the folder of kept output bytes
};

/// Runs the pair on emulator and cycle model and sets the rows beside each other. Throws InputError
/// that names file and field where what is stored does not fit.
std::vector<Row> compare_pair(const StoredPair& pair, const std::string& machine);

/// Half of the kernels, for good: by FNV-1a of the workload's name.
Part part_of(const std::string& workload);

/// Who measured what; `how`: with which instrument.
std::string source_of(const Provenance& provenance, const std::string& how);

}  // namespace lockstep::validation
