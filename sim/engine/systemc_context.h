// SPDX-License-Identifier: Apache-2.0
// SystemC 2.3.4 has one global context that simulates once.
#pragma once

namespace sc_core {
class sc_simcontext;
}

namespace lockstep::engine {

/// Makes sure that modules made from now on can be simulated: where the current context has
/// simulated before, or was left, a new one takes its place. The library does not document this,
/// and the old context leaks; a program that simulates once is not touched.
void use_fresh_systemc_context();

/// Simulations that live beside each other may have a context each: the one that runs next.
void enter_systemc_context(sc_core::sc_simcontext* context);

/// The modules made in it are about to be destroyed: it is not to be used again.
void leave_systemc_context(sc_core::sc_simcontext* context);

}  // namespace lockstep::engine
