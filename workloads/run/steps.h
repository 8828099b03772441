// SPDX-License-Identifier: Apache-2.0
// What runs of TPU and NPU programs show of their steps, and their traces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "sim/trace/trace.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// Which of the steps a report shows: the `top` with most cycles (0: all).
template <typename Step>
std::vector<bool> shown_steps(const std::vector<Step>& steps, std::uint64_t top) {
    std::vector<bool> shown(steps.size(), true);
    if (top == 0 || top >= steps.size()) return shown;
    std::vector<std::size_t> order(steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return steps[a].cycles > steps[b].cycles;
    });
    for (std::size_t i = top; i < order.size(); ++i) shown[order[i]] = false;
    return shown;
}

/// The trace that --trace and --trace-window ask for, or nullptr. Throws InputError.
inline std::unique_ptr<trace::Trace> make_trace(const Job& job) {
    const std::string& path = job.trace_file;
    if (path.empty()) return nullptr;
    const CycleRange range = trace_window(job);
    return std::make_unique<trace::Trace>(path, trace::Window{range.from, range.until}, job.what);
}

}  // namespace lockstep::run
