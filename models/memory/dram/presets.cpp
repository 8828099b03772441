// SPDX-License-Identifier: Apache-2.0
// What boards and their vendors publish: bus width, memory clock, capacity. The command clock
// follows from the data rate and the standard; peak bandwidth is a check on all of them, not an
// input.
#include "models/memory/dram/presets.h"

#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

constexpr std::uint64_t kGiB = 1ull << 30;

// clang-format off
constexpr Preset kPresets[] = {
    {"v100",    "HBM2",   4096,   877'000, 2, 32 * kGiB,         900, "NVIDIA V100 whitepaper; ranks assumed (8-high stacks)"},
    {"t4",      "GDDR6",   256, 5'001'000, 1, 16 * kGiB,         320, "NVIDIA Turing whitepaper"},
    {"a100",    "HBM2e",  5120, 1'593'000, 2, 80 * kGiB,        2039, "NVIDIA A100 whitepaper; ranks assumed (8-high stacks)"},
    {"rtx3090", "GDDR6X",  384, 9'751'000, 1, 24 * kGiB,         936, "NVIDIA GA102 whitepaper"},
    {"rtx4090", "GDDR6X",  384, 10'501'000, 1, 24 * kGiB,       1008, "NVIDIA Ada whitepaper"},
    {"h100",    "HBM3",   5120, 2'619'000, 2, 80 * kGiB,        3352, "NVIDIA H100 whitepaper; clock: MT4G; ranks assumed"},
    {"h200",    "HBM3e",  6016, 3'201'000, 2, 141 * kGiB,       4813, "H200 NVL product brief through FlashGPU-Sim; ranks assumed"},
    {"tpu_v1",  "DDR3",    128, 1'066'667, 1, 8 * kGiB,           34, "Jouppi et al., ISCA 2017: two DDR3-2133 channels, 34 GB/s"},
};
// clang-format on

}  // namespace

std::span<const Preset> presets() {
    return kPresets;
}

const Preset& find_preset(std::string_view name) {
    std::string known;
    for (const Preset& preset : kPresets) {
        if (name == preset.name) return preset;
        known += fmt::format(" {}", preset.name);
    }
    throw InputError(fmt::format("no memory system '{}'; known are{}", name, known));
}

Geometry make_geometry(const Standard& standard, std::uint32_t bus_bits, std::uint64_t memory_khz,
                       std::uint32_t ranks, std::uint64_t bytes) {
    const Organisation& organisation = standard.organisation;
    if (bus_bits == 0 || bus_bits % organisation.width_bits != 0)
        throw InputError(
            fmt::format("a memory bus of {} bits is no whole number of {} channels of {} bits",
                        bus_bits, standard.name, organisation.width_bits));
    Geometry out{.organisation = organisation, .ranks = ranks};
    if (ranks == 0 || out.banks() > 64)
        throw InputError(fmt::format("{} ranks of {}: a channel has 1 to {}", ranks, standard.name,
                                     64 / organisation.banks_per_rank()));
    out.channels = bus_bits / organisation.width_bits;
    out.clock_khz = memory_khz * 2 / organisation.beats_per_clock;
    if (out.clock_khz == 0) throw InputError("the memory clock is zero");
    out.timing = resolve(standard, out.clock_khz);
    out.rows =
        static_cast<std::uint32_t>(bytes / out.channels / out.banks() / organisation.row_bytes);
    if (out.rows == 0)
        throw InputError(fmt::format("a memory of {} bytes has no whole row", bytes));
    return out;
}

Geometry make_geometry(const Preset& preset) {
    return make_geometry(find_standard(preset.standard), preset.bus_bits, preset.memory_khz,
                         preset.ranks, preset.bytes);
}

}  // namespace lockstep::memory::dram
