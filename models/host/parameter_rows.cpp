// SPDX-License-Identifier: Apache-2.0
#include "models/host/parameter_rows.h"

#include <algorithm>
#include <thread>

namespace lockstep::host {

std::vector<config::Entry> parameter_entries() {
    return {{"threads", config::Type::kInteger, "1", 0, 1024,
             "threads that networks run on; 0: as many as the computer has"}};
}

unsigned threads(const config::Machine& machine) {
    const auto wanted = static_cast<unsigned>(machine.integer("threads"));
    return wanted != 0 ? wanted : std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace lockstep::host
