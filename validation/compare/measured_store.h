// SPDX-License-Identifier: Apache-2.0
// What is stored of measurements on a GPU, checked before anything runs.
#pragma once

#include <deque>
#include <vector>

#include "validation/compare/comparison.h"

namespace lockstep::validation {

struct MeasuredStore {
    std::vector<StoredPair> pairs;
    std::deque<CounterFile> counters;  ///< pairs point into it
};

/// Reads the measurements that a request asks for, of a machine of compute capability `arch`. Of
/// several files of counters a pair gets those of the one with the most metrics. Throws InputError
/// that names file and field where something is missing, wrong, there twice, or of another machine,
/// GPU or cubin than the rest. What was not measured or is not used is said on stderr.
MeasuredStore load_measurements(const Request& request, int arch);

}  // namespace lockstep::validation
