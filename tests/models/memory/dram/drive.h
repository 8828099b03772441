// SPDX-License-Identifier: Apache-2.0
// Drives one controller as a caller would: by its events.
#pragma once

#include <cstdint>
#include <vector>

#include "models/memory/dram/address_map.h"

namespace lockstep::memory::dram {

struct Offered {
    Direction direction;
    Location location;
    Cycle at;  ///< earliest cycle of arrival
};

/// Offers the requests in order, each as early as its queue takes it, and runs until all are
/// served. Returns the completions by id (the request's number).
inline std::vector<Cycle> drive(Controller& controller, const std::vector<Offered>& requests) {
    std::vector<Cycle> done(requests.size(), 0);
    Cycle now = 0;
    const auto collect = [&] {
        for (const Completion& c : controller.completions()) done[c.id] = c.cycle;
        controller.clear_completions();
    };
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].at > now) now = requests[i].at;
        while (!controller.enqueue(requests[i].direction, requests[i].location, i, now)) {
            now = controller.next_event() + 1;
            controller.advance(now);
        }
        collect();
    }
    while (controller.next_event() != kNever) controller.advance(controller.next_event() + 1);
    collect();
    return done;
}

}  // namespace lockstep::memory::dram
