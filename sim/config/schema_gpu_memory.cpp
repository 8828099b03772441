// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

namespace {

constexpr double kTebi = 1024.0 * 1024 * 1024 * 1024;

constexpr Entry kMemory[] = {
    {"l2.size", Type::kInteger, "B", 0, kTebi, "L2 cache of the chip"},
    {"dram.size", Type::kInteger, "B", 1 << 20, kTebi, "device memory"},
    {"dram.bus_width", Type::kInteger, "bit", 1, 65536, "width of the memory bus"},
    {"dram.bandwidth", Type::kNumber, "GB/s", 0.001, 100000, "peak bandwidth"},
};

}  // namespace

std::span<const Entry> gpu_memory() {
    return kMemory;
}

}  // namespace lockstep::config
