// SPDX-License-Identifier: Apache-2.0
// Kernels that others measured on GPUs (published/silicon.csv) and what models say of them.
#pragma once

#include <string>
#include <vector>

#include "validation/compare/suite.h"

namespace lockstep::validation {

struct SiliconRow {
    std::string set, machine, work_class;
    Row row;
};

/// Rows of the request's machine, or of `all`, as far as they were simulated: stored results, or
/// with `programs` what that folder's executables take now (DIR/SET/PROGRAM; `less`, where the
/// table names one, is taken off). Where a set's clock was not locked, the table's overrides hold
/// one that was fitted to it, and notes say so. Throws InputError where no row is left.
std::vector<SiliconRow> silicon_rows(const Request& request);

}  // namespace lockstep::validation
