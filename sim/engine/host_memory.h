// SPDX-License-Identifier: Apache-2.0
// How this process takes memory from the system.
#pragma once

namespace lockstep::engine {

/// Settings of the C library's heap for simulations; called once, before the first large
/// allocation. Nothing but speed depends on it.
void prepare_host_memory();

}  // namespace lockstep::engine
