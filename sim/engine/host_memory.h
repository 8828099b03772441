// SPDX-License-Identifier: Apache-2.0
// How this process takes memory from the system. Nothing but speed depends on it.
#pragma once

namespace lockstep::engine {

/// Settings of the C library's heap for simulations; called once, before the first large
/// allocation.
void prepare_host_memory();

/// For a simulation that takes long: what the heap holds by now moves to huge pages, where the
/// system has them to give.
void move_to_huge_pages();

}  // namespace lockstep::engine
