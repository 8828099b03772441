// SPDX-License-Identifier: Apache-2.0
// How far a run has come, for a process that watches it: cycles that the run will have taken at
// least. Launches that are over come in by Statistics::add_time(), the one under way by its model.
#pragma once

#include <atomic>
#include <cstdint>

namespace lockstep::stats {

/// Where this process writes it, in memory that both processes have; null: nowhere.
void publish_cycles_to(std::atomic<std::uint64_t>* cell);
bool publishes_cycles();

/// Of a launch under way, so far.
void publish_under_way(std::uint64_t cycles);
/// Of all launches that are over.
void publish_over(std::uint64_t cycles);

}  // namespace lockstep::stats
