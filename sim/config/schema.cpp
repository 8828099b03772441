// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

#include <vector>

namespace lockstep::config {

namespace {

std::vector<Entry> join(std::initializer_list<std::span<const Entry>> sections) {
    std::vector<Entry> all;
    for (const auto& section : sections) all.insert(all.end(), section.begin(), section.end());
    return all;
}

}  // namespace

std::span<const Entry> schema(std::string_view kind) {
    static const std::vector<Entry> gpu =
        join({gpu_general(), gpu_core(), gpu_memory_unit(), gpu_memory(), gpu_system()});
    if (kind == "gpu") return gpu;
    if (kind == "systolic") return systolic();
    if (kind == "tpu") return tpu();
    return {};
}

std::span<const std::string_view> kinds() {
    static constexpr std::string_view kKinds[] = {"gpu", "tpu", "systolic"};
    return kKinds;
}

}  // namespace lockstep::config
