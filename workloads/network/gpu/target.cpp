// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/target.h"

#include "workloads/cuda/network/arguments.h"

namespace lockstep::network::gpu {

Target target_of(const config::Machine& machine) {
    Target target;
    const auto whole = [&](const char* path) { return machine.integer(path); };
    target.name = machine.name();
    target.arch = static_cast<int>(whole("arch"));
    target.sms = whole("sm.count");
    target.sub_cores = whole("sm.sub_cores");
    target.warps = whole("sm.max_warps");
    target.ctas = whole("sm.max_ctas");
    target.registers = whole("sm.registers");
    target.shared_bytes = whole("shared_memory.size");
    target.shared_reserved = whole("shared_memory.reserved_per_cta");
    target.fp32_macs = static_cast<double>(whole("sm.fp32_lanes"));
    const auto cores = static_cast<double>(target.sub_cores);
    const double sums_in_fp32 = machine.number("tensor_core.fp32_accumulate_factor");
    target.fp16_macs = machine.number("tensor_core.macs.fp16") * cores * sums_in_fp32;
    target.tf32_macs = machine.number("tensor_core.macs.tf32") * cores * sums_in_fp32;
    target.int8_macs = machine.number("tensor_core.macs.int8") * cores;
    target.group_fp16_macs = machine.number("tensor_core.warpgroup.macs.fp16") * cores;
    target.group_int8_macs = machine.number("tensor_core.warpgroup.macs.int8") * cores;
    target.clock = machine.number("clock.sm") * 1e6;
    target.memory_bandwidth = machine.number("dram.bandwidth") * 1e9;
    target.l2_bandwidth = machine.number("l2.slice_bandwidth") *
                          static_cast<double>(whole("l2.slices")) * target.clock;
    // Code and the lines of the parameters come from L2 one after the other.
    constexpr std::int64_t kLine = 128, kLines = 1 + (sizeof(kernels::Product) + kLine - 1) / kLine;
    target.launch_cycles = static_cast<double>(
        whole("launch.begin_latency") + whole("launch.cta_latency") + whole("launch.end_latency") +
        kLines * (whole("l2.hit_latency") + whole("gcc.latency")));
    target.memory_latency = static_cast<double>(whole("l2.hit_latency") + whole("dram.latency"));
    target.memory_bytes = static_cast<std::uint64_t>(whole("dram.size"));
    return target;
}

}  // namespace lockstep::network::gpu
