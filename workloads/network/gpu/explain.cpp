// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/explain.h"

#include <fmt/format.h>

namespace lockstep::network::gpu {

namespace {

std::string megabytes(std::uint64_t bytes) {
    return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

std::string memory_text(const Executable& code) {
    std::uint64_t given = 0, ports = 0, between = 0;
    for (const Buffer& buffer : code.buffers)
        (buffer.use == BufferUse::kGiven     ? given
         : buffer.use == BufferUse::kBetween ? between
                                             : ports) += buffer.bytes;
    return fmt::format(
        "memory: {} of weights and constants, {} of inputs and outputs, {} of values between in "
        "{}; {} has {}\n",
        megabytes(given), megabytes(ports), megabytes(between), megabytes(code.shared_memory),
        code.target.name, megabytes(code.target.memory_bytes));
}

}  // namespace

std::string name_of(const Launch& launch) {
    return fmt::format("{}: {}", launch.layer, launch.kernel.kernel);
}

std::string schedule_text(const Executable& code) {
    std::string text =
        fmt::format("{} on {} in {}: {} launches\n", code.graph.name, code.target.name,
                    name_of(code.options.precision), code.launches.size());
    std::string layer;
    for (const Launch& launch : code.launches) {
        if (launch.layer != layer) text += launch.layer + "\n";
        layer = launch.layer;
        text += fmt::format("  {} grid ({},{},{}) block {}", launch.kernel.kernel, launch.grid.x,
                            launch.grid.y, launch.grid.z, launch.block.x);
        if (launch.macs != 0) text += fmt::format("  {} MACs", launch.macs);
        if (launch.bytes != 0) text += fmt::format("  {}", megabytes(launch.bytes));
        text += "\n";
        if (!launch.choice.empty()) text += "    " + launch.choice + "\n";
    }
    return text + memory_text(code);
}

}  // namespace lockstep::network::gpu
