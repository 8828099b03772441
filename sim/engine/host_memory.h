// SPDX-License-Identifier: Apache-2.0
// How this process takes memory from the system. Nothing but speed depends on it.
#pragma once

namespace lockstep::engine {

/// Settings of the C library's heap for simulations; called once, before the first large
/// allocation.
void prepare_host_memory();

/// Before the state of a chip is made: the heap grows in huge pages from now on, where the system
/// has them to give. Others that use the process's heap notice nothing but that it keeps what it
/// had.
void grow_in_huge_pages();

/// For a simulation that takes long: what the heap holds by now moves to huge pages, where the
/// system has them to give.
void move_to_huge_pages();

}  // namespace lockstep::engine
