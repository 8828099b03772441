// SPDX-License-Identifier: Apache-2.0
// Tables of the transcendental unit as the silicon gave them, against the emulator.
#pragma once

#include <string>
#include <vector>

#include "sim/config/machine.h"
#include "validation/compare/suite.h"
#include "validation/measure/record.h"
#include "validation/measure/tables.h"

namespace lockstep::validation {

struct MufuTable {
    TableRange range;
    Provenance provenance;
    std::string file, sha256;
};

/// What FOLDER/tables/index.json lists; nothing where there is none. Throws InputError that names
/// file and field.
std::vector<MufuTable> find_mufu_tables(const std::string& folder);

/// Its results. Throws InputError where the file is not what the index says.
std::vector<float> read_mufu_table(const MufuTable& table);

/// Runs the probe that made the table on the emulator: how many of its results are the silicon's.
Row compare_mufu_table(const MufuTable& table, const config::Machine& machine);

}  // namespace lockstep::validation
