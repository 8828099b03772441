// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

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

/// Of what nothing was chosen for: as fast as its bytes come, after the launch.
double modelled_cycles(const Launch& launch, const Target& target) {
    if (launch.cycles != 0) return launch.cycles;
    return target.launch_cycles +
           target.clock * static_cast<double>(launch.bytes) / target.memory_bandwidth;
}

}  // namespace

std::string branches_text(const Executable& code) {
    const auto dependences = dependences_of(code);
    std::vector<double> ends;
    double all = 0, longest = 0;
    for (std::size_t i = 0; i < code.launches.size(); ++i) {
        double begin = 0;
        for (const std::size_t earlier : dependences[i]) begin = std::max(begin, ends[earlier]);
        const double cycles = modelled_cycles(code.launches[i], code.target);
        ends.push_back(begin + cycles);
        all += cycles;
        longest = std::max(longest, ends.back());
    }
    const double microseconds = 1e6 / code.target.clock;
    return fmt::format(
        "streams: launches of {:.1f} us by the model; those that wait for each other take {:.1f} "
        "us of it, so branches beside each other (--launches streams or graph) save {:.0f}% at "
        "most\n",
        all * microseconds, longest * microseconds, all == 0 ? 0.0 : 100 * (1 - longest / all));
}

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
