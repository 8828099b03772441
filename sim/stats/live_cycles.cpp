// SPDX-License-Identifier: Apache-2.0
#include "sim/stats/live_cycles.h"

namespace lockstep::stats {

namespace {

std::atomic<std::uint64_t>* cell = nullptr;
std::uint64_t over = 0;

}  // namespace

void publish_cycles_to(std::atomic<std::uint64_t>* to) {
    cell = to;
    over = 0;
}

bool publishes_cycles() {
    return cell != nullptr;
}

void publish_under_way(std::uint64_t cycles) {
    if (cell != nullptr) cell->store(over + cycles, std::memory_order_relaxed);
}

void publish_over(std::uint64_t cycles) {
    over = cycles;
    publish_under_way(0);
}

}  // namespace lockstep::stats
