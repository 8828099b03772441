// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

namespace {

constexpr double kMostOfSm = 16.0 * 1024 * 1024;

constexpr Entry kGpu[] = {
    {"product", Type::kText, "1", 0, 0, "name that the CUDA runtime reports"},
    {"arch", Type::kInteger, "1", 70, 90, "SM version: the instruction set"},
    {"clock.sm", Type::kNumber, "MHz", 1, 10000, "boost clock of the SMs"},
    {"clock.memory", Type::kNumber, "MHz", 1, 100000, "memory clock; data moves on both edges"},
    {"gpc.count", Type::kInteger, "1", 1, 64, "graphics processing clusters"},
    {"sm.count", Type::kInteger, "1", 1, 1024, "streaming multiprocessors"},
    {"sm.sub_cores", Type::kInteger, "1", 1, 8, "sub-cores (warp schedulers) of an SM"},
    {"sm.max_warps", Type::kInteger, "1", 1, 128, "warps resident on an SM"},
    {"sm.max_threads", Type::kInteger, "1", 32, 4096, "threads resident on an SM"},
    {"sm.max_ctas", Type::kInteger, "1", 1, 64, "CTAs resident on an SM"},
    {"sm.registers", Type::kInteger, "1", 1024, 1 << 20, "32-bit registers of an SM"},
    {"sm.fp32_lanes", Type::kInteger, "1", 1, 1024, "FP32 units of an SM"},
    {"cta.max_threads", Type::kInteger, "1", 32, 4096, "threads of a CTA"},
    {"shared_memory.carve_outs", Type::kText, "KiB", 0, 0,
     "sizes that an SM can set aside of l1.size"},
    {"shared_memory.size", Type::kInteger, "B", 0, kMostOfSm, "largest shared memory of an SM"},
    {"shared_memory.max_per_cta", Type::kInteger, "B", 0, kMostOfSm, "most that a CTA may have"},
    {"shared_memory.default_per_cta", Type::kInteger, "B", 0, kMostOfSm,
     "most that a CTA may have without asking for more"},
    {"shared_memory.reserved_per_cta", Type::kInteger, "B", 0, kMostOfSm, "kept by the system"},
    {"l1.size", Type::kInteger, "B", 0, kMostOfSm, "L1 cache and shared memory together, by SM"},
};

}  // namespace

std::span<const Entry> gpu_general() {
    return kGpu;
}

}  // namespace lockstep::config
