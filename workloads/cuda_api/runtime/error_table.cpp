// SPDX-License-Identifier: Apache-2.0
// The rows of errors.txt, in order of their codes.
#include "workloads/cuda_api/runtime/error_table.h"

#include <algorithm>
#include <iterator>

namespace lockstep::cuda {
namespace {

constexpr ErrorEntry kErrors[] = {
#include "workloads/cuda_api/runtime/errors.inc"
};

}  // namespace

const ErrorEntry* find_error(int code) {
    const auto* const entry =
        std::lower_bound(std::begin(kErrors), std::end(kErrors), code,
                         [](const ErrorEntry& row, int wanted) { return row.code < wanted; });
    return entry != std::end(kErrors) && entry->code == code ? entry : nullptr;
}

}  // namespace lockstep::cuda
