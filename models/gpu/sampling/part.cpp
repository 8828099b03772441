// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sampling/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "models/gpu/memory/memory_parameters.h"
#include "sim/numerics/integer.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint32_t kPart = 8;

/// The number nearest to value that is a multiple of unit, and not 0.
std::uint32_t whole_multiple(double value, std::uint32_t unit) {
    return unit * std::max(1u, static_cast<std::uint32_t>(std::lround(value / unit)));
}

/// The machine with other parameters: a built-in one, with what differs from it.
std::shared_ptr<const config::Machine> changed(const config::Machine& machine,
                                               std::vector<std::string> changes) {
    std::map<std::string, std::string, std::less<>> built_in;
    for (const config::Parameter& parameter : config::Machine::load(machine.name())->parameters())
        built_in[parameter.path] = parameter.value;
    std::vector<std::string> all;
    for (const config::Parameter& parameter : machine.parameters()) {
        const auto is_it = [&](const std::string& change) {
            return change.starts_with(parameter.path + "=");
        };
        if (built_in[parameter.path] != parameter.value && std::ranges::none_of(changes, is_it))
            all.push_back(parameter.path + "=" + parameter.value);
    }
    all.insert(all.end(), changes.begin(), changes.end());
    return config::Machine::load(machine.name(), all);
}

}  // namespace

std::uint32_t part_sms(std::uint32_t sms) {
    return sms >= 2 * kPart ? kPart : 0;
}

std::uint32_t second_part_sms(std::uint32_t sms) {
    constexpr std::uint32_t kSecond = kPart + kPart / 2;
    return sms >= 2 * kSecond ? kSecond : part_sms(sms);
}

bool has_parts(const config::Machine& machine) {
    return std::ranges::count(config::Machine::names(), machine.name()) != 0;
}

std::shared_ptr<const config::Machine> part_of(const config::Machine& whole, std::uint32_t sms) {
    const MemoryParameters memory = MemoryParameters::of(whole);
    const double share = sms / static_cast<double>(whole.integer("sm.count"));
    const std::uint32_t parts = memory.l2_partitions;
    // Channels and slices keep their proportion; bandwidths make good what rounding takes.
    const std::uint32_t by_channel = std::max(1u, memory.slices / memory.dram.channels),
                        by_slice = std::max(1u, memory.dram.channels / memory.slices);
    const std::uint32_t groups =
        whole_multiple(share * std::min(memory.slices, memory.dram.channels), parts);
    const std::uint32_t slices = groups * by_channel, channels = groups * by_slice;
    const double slice_share = share * memory.slices / slices;
    std::vector<std::string> changes;
    const auto set = [&](const char* path, auto value) {
        changes.push_back(fmt::format("{}={}", path, value));
    };
    const auto least_one = [](double value) {
        return std::max<std::int64_t>(1, std::llround(value));
    };
    set("sm.count", sms);
    set("gpc.count", least_one(share * static_cast<double>(whole.integer("gpc.count"))));
    set("gpc.sms", "even");
    set("l2.slices", slices);
    set("l2.size", whole.integer("l2.size") / memory.slices * slices);
    set("l2.slice_bandwidth", memory.slice_bandwidth * slice_share);
    set("l2.slice_write_bandwidth", memory.slice_write_bandwidth * slice_share);
    set("l2.link_bandwidth", memory.link_bandwidth * slice_share);
    set("dram.bus_width", whole.integer("dram.bus_width") / memory.dram.channels * channels);
    set("dram.bandwidth", whole.number("dram.bandwidth") * share);
    set("launch.cta_interval", whole.number("launch.cta_interval") / share);
    // An SM has so many requests under way at each Tile of partitions: fewer Tiles, more each.
    const std::uint32_t tiles =
        MemoryParameters::of(*changed(whole, changes)).tiles_per_l2_partition;
    set("crossbar.outstanding",
        numerics::divide_up(memory.outstanding * memory.tiles_per_l2_partition, tiles));
    return changed(whole, changes);
}

std::uint64_t share_of(std::uint64_t ctas, std::uint64_t sms, std::uint64_t part_sms) {
    const std::uint64_t most = (ctas + sms - 1) / sms;
    const auto wanted = static_cast<std::uint64_t>(std::llround(
        static_cast<double>(ctas) * static_cast<double>(part_sms) / static_cast<double>(sms)));
    return std::clamp(wanted, (most - 1) * part_sms + 1, most * part_sms);
}

std::vector<std::uint64_t> block_of(const sass::Dim3& grid, std::uint64_t ctas,
                                    std::uint64_t number) {
    const std::array<std::uint64_t, 3> size{grid.x, grid.y, grid.z};
    std::array<std::uint64_t, 3> block = size, begin{};
    // Batches and pieces of k have operands of their own: they are cut first.
    std::array<std::size_t, 3> order{2, 0, 1};
    if (size[1] > size[0]) std::swap(order[1], order[2]);
    std::uint64_t volume = size[0] * size[1] * size[2];
    for (const std::size_t d : order) {
        const std::uint64_t others = volume / size[d];
        block[d] = std::min(size[d], std::max<std::uint64_t>(1, (ctas + others - 1) / others));
        volume = others * block[d];
    }
    for (const std::size_t d : order) {
        const std::uint64_t fit = size[d] / block[d];
        begin[d] = number % fit * block[d];
        number /= fit;
    }
    std::vector<std::uint64_t> chosen;
    if (number != 0) return chosen;
    for (std::uint64_t z = begin[2]; z < begin[2] + block[2]; ++z)
        for (std::uint64_t y = begin[1]; y < begin[1] + block[1]; ++y)
            for (std::uint64_t x = begin[0]; x < begin[0] + block[0] && chosen.size() < ctas; ++x)
                chosen.push_back((z * size[1] + y) * size[0] + x);
    return chosen;
}

}  // namespace lockstep::gpu
