// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/counter_rules.h"

#include <fmt/format.h>

#include "sim/error/error.h"

namespace lockstep::validation {

namespace {

/// By the end of a metric's name, the first that fits.
constexpr struct {
    std::string_view end, weight;
} kRules[] = {
    {".sum", ""},
    {"l1tex__t_sector_hit_rate.pct", "l1tex__t_sectors.sum"},
    {"lts__t_sector_hit_rate.pct", "lts__t_sectors.sum"},
    {"_elapsed", "sm__cycles_elapsed.max"},
    {"_active", "sm__cycles_active.avg"},
    {"_per_inst_issued.ratio", "smsp__inst_issued.sum"},
    {"_per_issue_active.ratio", "smsp__inst_issued.sum"},
    {"_per_inst_executed.ratio", "smsp__inst_executed.sum"},
    {"_per_inst_executed.pct", "smsp__inst_executed.sum"},
};

double get(const KernelMetrics& kernel, std::string_view metric) {
    const auto found = kernel.find(metric);
    if (found == kernel.end()) throw InternalError(fmt::format("no kernel has {}", metric));
    return found->second;
}

struct Sum {
    double value = 0, weight = 0;
};

Sum sum_of(std::string_view metric, std::span<const KernelMetrics> kernels) {
    const std::string_view weight = weight_of(metric);
    Sum sum;
    for (const KernelMetrics& kernel : kernels) {
        const double w = weight.empty() ? 1 : get(kernel, weight);
        sum.value += w * get(kernel, metric);
        sum.weight += w;
    }
    return sum;
}

}  // namespace

std::string_view weight_of(std::string_view metric) {
    for (const auto& [end, weight] : kRules)
        if (metric.ends_with(end)) return weight;
    throw InternalError(fmt::format("no rule how to add {}", metric));
}

double counter_of(std::string_view metric, std::span<const KernelMetrics> all,
                  std::span<const KernelMetrics> less, double scale) {
    const Sum a = sum_of(metric, all), b = sum_of(metric, less);
    if (weight_of(metric).empty()) return scale * (a.value - b.value);
    return a.weight > b.weight ? (a.value - b.value) / (a.weight - b.weight) : 0.0;
}

bool is_percentage(std::string_view metric) {
    return metric.find("pct") != std::string_view::npos;
}

}  // namespace lockstep::validation
