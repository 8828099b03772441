// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "models/memory/dram/presets.h"
#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

TEST(Preset, PeakBandwidthIsThePublishedOne) {
    for (const Preset& preset : presets()) {
        const Geometry geometry = make_geometry(preset);
        EXPECT_NEAR(geometry.peak_gb_per_s() / preset.published_gb_per_s, 1, 0.01) << preset.name;
        EXPECT_EQ(geometry.organisation.burst_bytes(),
                  std::string(preset.standard) == "DDR3" ? 64u : 32u);
        const double bytes = double(geometry.channels) * geometry.banks() * geometry.rows *
                             geometry.organisation.row_bytes;
        EXPECT_NEAR(bytes / double(preset.bytes), 1, 0.001) << preset.name;
    }
}

TEST(Preset, ChannelsAreThoseOfTheBoards) {
    EXPECT_EQ(make_geometry(find_preset("v100")).channels, 64u);   // 4 stacks x 8 x 2
    EXPECT_EQ(make_geometry(find_preset("a100")).channels, 80u);   // 5 stacks x 8 x 2
    EXPECT_EQ(make_geometry(find_preset("h100")).channels, 160u);  // 5 stacks x 16 x 2
    EXPECT_EQ(make_geometry(find_preset("h200")).channels, 188u);
    EXPECT_EQ(make_geometry(find_preset("rtx4090")).channels, 24u);  // 12 devices x 2
    EXPECT_EQ(make_geometry(find_preset("tpu_v1")).channels, 2u);
}

TEST(Standards, RowsAreConsistent) {
    for (const Standard& standard : standards()) {
        for (const std::uint64_t khz : {533'000ull, 937'500ull, 1'600'500ull}) {
            const Timing t = resolve(standard, khz);
            EXPECT_GE(t.CCD_S, t.burst) << standard.name;
            EXPECT_GE(t.CCD_L, t.CCD_S) << standard.name;
            EXPECT_GT(t.CCD_R, t.burst) << standard.name;
            EXPECT_GE(t.RRD_L, t.RRD_S) << standard.name;
            EXPECT_GE(t.WTR_L, t.WTR_S) << standard.name;
            EXPECT_LE(std::abs(int(t.RAS + t.RP) - int(t.RC)), 2) << standard.name;
            EXPECT_GT(t.REFI, t.RFC) << standard.name;
            EXPECT_GE(t.RFC, t.RFC_bank) << standard.name;
        }
        EXPECT_GT(std::string(standard.source).size(), 20u);
    }
}

TEST(Standards, RoundsAsJedecDoes) {
    // DDR3-2133N is 14-14-14, DDR4-3200AA 22-22-22 with CWL 16.
    const Timing ddr3 = resolve(find_standard("DDR3"), 1'066'667);
    EXPECT_EQ(ddr3.CL, 14u);
    EXPECT_EQ(ddr3.RCD_read, 14u);
    EXPECT_EQ(ddr3.RP, 14u);
    EXPECT_EQ(ddr3.RC, 50u);
    EXPECT_EQ(ddr3.FAW, 38u);
    const Timing ddr4 = resolve(find_standard("DDR4"), 1'600'000);
    EXPECT_EQ(ddr4.CL, 22u);
    EXPECT_EQ(ddr4.CWL, 16u);
    EXPECT_EQ(ddr4.RAS, 52u);
    EXPECT_EQ(ddr4.CCD_L, 8u);
    EXPECT_EQ(cycles(ns(10), 1'000'000), 10u);
    EXPECT_EQ(cycles(ns(10.02), 1'000'000), 10u);  // within the 2.5% that is forgiven
    EXPECT_EQ(cycles(ns(10.03), 1'000'000), 11u);
    EXPECT_EQ(cycles(ns(1, 4), 1'000'000), 4u);
}

TEST(Preset, WrongNamesAndSizesAreTheUsersFault) {
    EXPECT_THROW(find_preset("h300"), InputError);
    EXPECT_THROW(find_standard("DDR9"), InputError);
    const Standard& hbm3 = find_standard("HBM3");
    EXPECT_THROW(make_geometry(hbm3, 5000, 2'619'000, 1, 1ull << 30), InputError);
    EXPECT_THROW(make_geometry(hbm3, 5120, 2'619'000, 5, 1ull << 36), InputError);
    EXPECT_THROW(make_geometry(hbm3, 5120, 2'619'000, 1, 1024), InputError);
    EXPECT_THROW(make_geometry(hbm3, 5120, 0, 1, 1ull << 36), InputError);
}

}  // namespace
}  // namespace lockstep::memory::dram
