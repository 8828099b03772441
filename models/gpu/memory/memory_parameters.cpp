// SPDX-License-Identifier: Apache-2.0
// Machine files state latencies as they are measured, at the SM's port: of an L2 hit, and what a
// DRAM read adds. The stages' shares follow here: what the crossbar's two ways leave of an L2 hit
// is the slice's; what the DRAM's own activation, column access and burst leave of a read is halved
// between the ways to the controller and back.
#include "models/gpu/memory/memory_parameters.h"

#include <algorithm>
#include <bit>

#include "models/gpu/device/parameter_rows.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// The chip's partitions are cut into so many Tiles: enough to keep host threads busy, few enough
/// to keep the Channels from every SM to every Tile a few thousand.
constexpr std::uint32_t kTilesOfDividedL2 = 6;
constexpr std::uint32_t kTilesOfWholeL2 = 8;

/// Whether slices and channels can belong to each other, in so many parts of L2.
bool go_together(std::uint32_t slices, std::uint32_t channels, std::uint32_t partitions) {
    return (slices % channels == 0 || channels % slices == 0) && slices % partitions == 0 &&
           channels % partitions == 0;
}

/// "a or b": the values next to `wanted`, downwards and upwards, that do.
template <typename Does>
std::string nearest_that_do(std::uint32_t wanted, std::uint32_t unit, const Does& does) {
    std::uint32_t below = wanted - 1, above = wanted + 1;
    while (below > 0 && !does(below)) --below;
    while (!does(above)) ++above;
    return below == 0 ? fmt::format("{}", above * unit)
                      : fmt::format("{} or {}", below * unit, above * unit);
}

}  // namespace

MemoryParameters MemoryParameters::of(const config::Machine& machine) {
    const auto integer = [&](const char* path) {
        return static_cast<std::uint32_t>(machine.integer(path));
    };
    const auto require = [&](bool holds, const std::string& what) {
        if (!holds) throw InputError(fmt::format("{}: {}", machine.name(), what));
    };
    MemoryParameters out{};
    read_rows(machine, memory_rows(), out);
    out.clock = engine::ClockDomain::from_megahertz(machine.number("clock.sm"));

    out.sets =
        static_cast<std::uint32_t>(machine.integer("l2.size") / out.slices / out.ways / kLineBytes);
    require(out.sets > 0,
            fmt::format("l2.size is {} B, less than one set of {} lines in each of {} slices "
                        "({} KiB)",
                        machine.integer("l2.size"), out.ways, out.slices,
                        out.slices * out.ways * kLineBytes / 1024));
    // A slice keeps half of each for lines of its own DRAM.
    require(out.l2_partitions == 1 || out.ways > 1, "two l2.partitions need two l2.ways");
    require(out.l2_partitions == 1 || integer("l2.mshrs") > 1,
            "two l2.partitions need two l2.mshrs");
    if (out.slice_write_bandwidth == 0) out.slice_write_bandwidth = out.slice_bandwidth;
    out.lookup = static_cast<engine::Cycle>(kFraction / machine.number("clock.l2_ratio") + 0.5);
    const engine::Cycle hit = integer("l2.hit_latency");
    require(out.request_latency + out.reply_latency <= hit,
            "l2.hit_latency is less than the crossbar's latencies");
    out.slice_latency = hit - out.request_latency - out.reply_latency;
    out.far_latency = out.l2_partitions == 1 ? 0 : integer("l2.far_latency") / 2;
    require(out.l2_partitions == 1 ||
                (out.far_latency > 0 && machine.integer("l2.far_latency") % 2 == 0),
            "two l2.partitions need an even l2.far_latency of 2 cycles or more: set it too");
    out.fetch_sectors = integer("l2.fetch_granularity") / kSectorBytes;
    require(out.fetch_sectors == 1 || out.fetch_sectors == 2 || out.fetch_sectors == 4,
            "l2.fetch_granularity is not 32, 64 or 128 bytes");

    const auto page = static_cast<std::uint64_t>(machine.integer("tlb.page_size"));
    require(std::has_single_bit(page), "tlb.page_size is no power of two");
    out.page_lines = page / kLineBytes;
    out.tlb_warm = machine.boolean("tlb.warm");
    out.tlb_ways = std::min(integer("tlb.l2_ways"), out.tlb_entries);

    const auto memory_khz = static_cast<std::uint64_t>(machine.number("clock.memory") * 1000 + 0.5);
    out.dram =
        memory::dram::make_geometry(memory::dram::find_standard(machine.text("dram.standard")),
                                    integer("dram.bus_width"), memory_khz, integer("dram.ranks"),
                                    static_cast<std::uint64_t>(machine.integer("dram.size")));
    require(machine.integer("dram.size") / kLineBytes / out.slices < std::int64_t{1} << 31,
            "dram.size is more than 256 GiB a slice of L2");
    const auto writes = [&](const char* path) {
        return static_cast<std::uint32_t>(machine.number(path) * out.write_queue);
    };
    out.write_high = std::max(1u, writes("dram.write_high"));
    out.write_low = writes("dram.write_low");
    require(out.write_low < out.write_high, "dram.write_low is not less than dram.write_high");
    read_rows(machine, dram_policy_rows(), out.policies);
    require(out.dram.organisation.burst_bytes() == kSectorBytes,
            "dram.standard: a burst is not one sector of 32 bytes");
    const std::uint32_t channels = out.dram.channels, partitions = out.l2_partitions;
    if (!go_together(out.slices, channels, partitions)) {
        std::string ways;
        if (channels % partitions == 0)
            ways = fmt::format("; with these channels l2.slices can be {}",
                               nearest_that_do(out.slices, 1, [&](std::uint32_t slices) {
                                   return go_together(slices, channels, partitions);
                               }));
        if (out.slices % partitions == 0)
            ways +=
                fmt::format("; with these slices dram.bus_width can be {} bit",
                            nearest_that_do(channels, integer("dram.bus_width") / channels,
                                            [&](std::uint32_t other) {
                                                return go_together(out.slices, other, partitions);
                                            }));
        require(false,
                fmt::format("{} L2 slices and {} DRAM channels in {} l2.partitions: one must "
                            "be a multiple of the other, and each of the partitions{}",
                            out.slices, channels, partitions, ways));
    }

    const memory::dram::Timing& timing = out.dram.timing;
    const auto sm_cycles = [&](double clocks) {
        return static_cast<engine::Cycle>(
            clocks * 1e9 / static_cast<double>(out.dram.clock_khz * out.clock.period()) + 0.5);
    };
    // A miss is answered when all that it fetched is here.
    const engine::Cycle core = sm_cycles(timing.RCD_read + timing.CL + timing.burst +
                                         (out.fetch_sectors - 1) * timing.CCD_L);
    const engine::Cycle dram = integer("dram.latency");
    require(dram >= core + 2, fmt::format("dram.latency is less than the {} cycles that the DRAM "
                                          "itself takes",
                                          core));
    out.open_row_latency = dram - sm_cycles(timing.RCD_read);
    out.dram_request_latency = (dram - core) / 2;
    out.dram_reply_latency = dram - core - out.dram_request_latency;

    // Slices that share channels stay in one Tile.
    const std::uint32_t units = std::min(out.slices, out.dram.channels) / out.l2_partitions;
    out.tiles_per_l2_partition =
        std::min(units, out.l2_partitions == 1 ? kTilesOfWholeL2 : kTilesOfDividedL2);
    return out;
}

memory::dram::ControllerParameters MemoryParameters::controller(double phase) const {
    memory::dram::ControllerParameters out = policies.controller(dram);
    out.refresh_phase = phase;
    out.read_queue = read_queue;
    out.write_queue = write_queue;
    out.write_high = write_high;
    out.write_low = write_low;
    return out;
}

}  // namespace lockstep::gpu
