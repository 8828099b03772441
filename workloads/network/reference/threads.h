// SPDX-License-Identifier: Apache-2.0
// Parts of a node's work at once. One thread, but where a run on the host asks for more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace lockstep::network::reference {

/// Threads that nodes computed by this thread may use.
inline thread_local unsigned own_threads = 1;

/// Calls f(begin, end) for ranges that make up [0, count), each of a multiple of `grain` but the
/// last, one a thread. `work`: operations in all; too few to share are done here.
template <class F>
void for_ranges(std::int64_t count, std::int64_t grain, double work, F&& f) {
    constexpr double kWorthAThread = 1e6;
    const std::int64_t grains = (count + grain - 1) / grain;
    const auto threads = static_cast<std::int64_t>(
        std::min({static_cast<double>(own_threads), static_cast<double>(grains),
                  std::max(work / kWorthAThread, 1.0)}));
    if (threads <= 1) return f(std::int64_t{0}, count);
    std::vector<std::jthread> others;
    const auto begin_of = [&](std::int64_t t) {
        return std::min(grains * t / threads * grain, count);
    };
    for (std::int64_t t = 1; t < threads; ++t)
        others.emplace_back([&f, begin = begin_of(t), end = begin_of(t + 1)] { f(begin, end); });
    f(std::int64_t{0}, begin_of(1));
}

}  // namespace lockstep::network::reference
