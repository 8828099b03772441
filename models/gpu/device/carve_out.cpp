// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/device/carve_out.h"

#include <fmt/format.h>

#include <sstream>

#include "sim/error/error.h"

namespace lockstep::gpu {

std::uint64_t carve_out(const config::Machine& machine, std::uint64_t needed) {
    const std::string& text = machine.text("shared_memory.carve_outs");
    const auto most = static_cast<std::uint64_t>(machine.integer("shared_memory.size"));
    std::istringstream sizes(text);
    std::uint64_t kib = 0, last = 0, chosen = 0;
    char comma = ',';
    bool ascends = true;
    while (comma == ',' && sizes >> kib) {
        ascends = ascends && kib >= last && kib * 1024 <= most;
        if (chosen < needed) chosen = kib * 1024;
        last = kib;
        comma = 0;
        sizes >> comma;
    }
    if (!ascends || comma != 0 || last * 1024 != most)
        throw InputError(fmt::format(
            "{}: shared_memory.carve_outs: '{}' is no ascending list of sizes in KiB, as 0,8,16, "
            "up to shared_memory.size ({} KiB)",
            machine.name(), text, static_cast<double>(most) / 1024));
    return chosen;
}

}  // namespace lockstep::gpu
