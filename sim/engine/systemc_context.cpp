// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/systemc_context.h"

#include <systemc>
#include <vector>

// libsystemc.so refers to it, though we have a main() of our own. It must be visible to it.
__attribute__((visibility("default"))) int sc_main(int, char**) {
    return 1;
}

namespace lockstep::engine {

namespace {

/// A context in which modules were before: their processes stay registered there.
sc_core::sc_simcontext* left_context = nullptr;

}  // namespace

void use_fresh_systemc_context() {
    if (sc_core::sc_get_status() == sc_core::SC_ELABORATION &&
        sc_core::sc_get_curr_simcontext() != left_context)
        return;
    // Kept reachable for ever: they cannot be destroyed, and are not to count as leaks.
    static auto& retired = *new std::vector<sc_core::sc_simcontext*>;
    retired.push_back(sc_core::sc_curr_simcontext);
    sc_core::sc_curr_simcontext = new sc_core::sc_simcontext;
    sc_core::sc_default_global_context = sc_core::sc_curr_simcontext;
}

void enter_systemc_context(sc_core::sc_simcontext* context) {
    sc_core::sc_curr_simcontext = context;
    sc_core::sc_default_global_context = context;
}

void leave_systemc_context(sc_core::sc_simcontext* context) {
    left_context = context;
}

}  // namespace lockstep::engine
