// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/device/parameter_rows.h"

namespace lockstep::gpu {

std::vector<config::Entry> parameter_entries() {
    std::vector<config::Entry> entries;
    append_entries(entries, chip_rows());
    append_entries(entries, sm_rows());
    append_entries(entries, gcc_rows());
    append_entries(entries, cluster_rows());
    append_entries(entries, memory_unit_rows());
    append_entries(entries, memory_rows());
    append_entries(entries, dram_policy_rows());
    append_entries(entries, system_rows());
    return entries;
}

}  // namespace lockstep::gpu
