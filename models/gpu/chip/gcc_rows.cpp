// SPDX-License-Identifier: Apache-2.0
// The parameters of a GPC's cache: a row each.
#include "models/gpu/device/parameter_rows.h"

namespace lockstep::gpu {

using config::Row;
using config::Type;

namespace {

constexpr double kMebi = 1024.0 * 1024;

}  // namespace

std::span<const Row<GccParameters>> gcc_rows() {
    static const std::vector<Row<GccParameters>> kRows{
        {"gpc.count", Type::kInteger, "1", 1, 64, "graphics processing clusters"},
        {"gpc.sms", Type::kText, "1", 0, 0,
         "SMs of each GPC as 16,18,16, in the order of SMs; even: TPCs are dealt in turn"},
        {"gcc.latency", Type::kInteger, "1", 2, 1000,
         "cycles that a constant in the cache of the GPC comes later than one in the sub-core's"},
        {"gcc.size", Type::kInteger, "B", 128, kMebi,
         "cache of a GPC for code and constants (L1.5)"},
        {"gcc.ways", &GccParameters::ways, "1", 1, 1024, "ways of a GPC's cache"},
        {"gcc.fetch_granularity", Type::kInteger, "B", 128, 4096,
         "bytes that a miss brings from L2"},
        {"gcc.interval", &GccParameters::interval, "1", 1, 64,
         "cycles between two requests of its SMs"},
        {"launch.code_prefetch", &GccParameters::code_prefetch, "B", 0, kMebi,
         "of a kernel's code, brought to the caches of the GPCs while it is launched"},
        Row<GccParameters>{"launch.constant_prefetch", &GccParameters::constant_prefetch,
                           "a launch brings its parameters to the caches of the GPCs"}
            .defaults_to("true"),
        {"gcc.sm_requests", &GccParameters::sm_requests, "1", 1, 4096, "lines under way to an SM"},
    };
    return kRows;
}

}  // namespace lockstep::gpu
