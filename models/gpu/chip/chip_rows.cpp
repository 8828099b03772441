// SPDX-License-Identifier: Apache-2.0
// The chip as programs and their driver see it: what the other tables do not have.
#include "models/gpu/device/parameter_rows.h"

namespace lockstep::gpu {

using config::Row;
using config::Type;

namespace {

constexpr double kMostOfSm = 16.0 * 1024 * 1024;

}  // namespace

std::span<const Row<config::NoMembers>> chip_rows() {
    static const std::vector<Row<config::NoMembers>> kRows{
        Row<config::NoMembers>{"product", Type::kText, "1", 0, 0,
                               "name that the CUDA runtime reports"}
            .reporting_only(),
        {"arch", Type::kInteger, "1", 70, 90, "SM version: the instruction set"},
        {"clock.memory", Type::kNumber, "MHz", 1, 100000, "memory clock; data moves on both edges"},
        {"clock.l2_ratio", Type::kNumber, "1", 0.1, 10,
         "clock of L2 and crossbar, in clocks of the SMs; with another value their bandwidths and "
         "latencies, which are in cycles of the SMs, follow"},
        {"sm.count", Type::kInteger, "1", 1, 1024, "streaming multiprocessors"},
        {"sm.max_threads", Type::kInteger, "1", 32, 4096, "threads resident on an SM"},
        {"sm.fp32_lanes", Type::kInteger, "1", 1, 1024, "FP32 units of an SM"},
        {"cta.max_threads", Type::kInteger, "1", 32, 4096, "threads of a CTA"},
        {"shared_memory.carve_outs", Type::kText, "KiB", 0, 0,
         "sizes that an SM can set aside of l1.size"},
        {"shared_memory.size", Type::kInteger, "B", 0, kMostOfSm, "largest shared memory of an SM"},
        {"shared_memory.max_per_cta", Type::kInteger, "B", 0, kMostOfSm,
         "most that a CTA may have"},
        Row<config::NoMembers>{"shared_memory.default_per_cta", Type::kInteger, "B", 0, kMostOfSm,
                               "most that a CTA may have without asking for more"}
            .reporting_only(),
        {"shared_memory.reserved_per_cta", Type::kInteger, "B", 0, kMostOfSm,
         "shared memory of a CTA that is kept by the system"},
    };
    return kRows;
}

}  // namespace lockstep::gpu
