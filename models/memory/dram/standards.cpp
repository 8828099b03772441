// SPDX-License-Identifier: Apache-2.0
// One row a standard. JEDEC leaves most core timings to the vendors; the figures are those that
// open simulators and register dumps of products publish. Where a source counts clocks of its own
// speed bin they are given here as the time they stand for, so that a row holds at any clock.
#include "models/memory/dram/standards.h"

#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

// clang-format off
constexpr Standard kStandards[] = {
    {.name = "HBM2",
     .organisation = {.width_bits = 64, .beats_per_clock = 2, .burst_beats = 4, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 1024, .separate_row_bus = true, .activate_clocks = 2},
     .timing = {.RCD_read = ns(12), .RCD_write = ns(6), .RP = ns(14), .RAS = ns(28), .RC = ns(42), .CL = ns(18), .CWL = ns(7),
                .CCD_S = ck(2), .CCD_L = ns(3, 3), .CCD_R = ck(3), .RRD_S = ns(4), .RRD_L = ns(6), .FAW = ns(16),
                .WTR_S = ns(4), .WTR_L = ns(9), .turnaround = ck(5), .RTP = ns(5), .WR = ns(14),
                .RFC = ns(260), .RFC_bank = ns(96), .REFI = ns(3900), .RREFD = ns(8)},
     .source = "DRAMSys configs/memspec/HBM2.json (registers of a Vega 20 board) and gem5 HBM_2000_4H_1x64, which agree; "
               "RFC: DRAMsim3 HBM2_8Gb_x128; CCD_R one clock over CCD_S and two-clock activation: Ramulator 2 HBM2"},
    {.name = "HBM2e",
     .organisation = {.width_bits = 64, .beats_per_clock = 2, .burst_beats = 4, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 1024, .separate_row_bus = true, .activate_clocks = 2},
     .timing = {.RCD_read = ns(12), .RCD_write = ns(6), .RP = ns(14), .RAS = ns(28), .RC = ns(42), .CL = ns(18), .CWL = ns(7),
                .CCD_S = ck(2), .CCD_L = ns(2.5, 3), .CCD_R = ck(3), .RRD_S = ns(4), .RRD_L = ns(6), .FAW = ns(16),
                .WTR_S = ns(4), .WTR_L = ns(9), .turnaround = ck(5), .RTP = ns(5), .WR = ns(14),
                .RFC = ns(350), .RFC_bank = ns(96), .REFI = ns(3900), .RREFD = ns(8)},
     .source = "assumed: HBM2's core times at the higher clock; RFC of 8 Gb a channel: Ramulator 2 HBM2 table; CCD_L assumed"},
    {.name = "HBM3",
     .organisation = {.width_bits = 32, .beats_per_clock = 4, .burst_beats = 8, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 1024, .separate_row_bus = true, .activate_clocks = 2},
     .timing = {.RCD_read = ns(14), .RCD_write = ns(14), .RP = ns(14), .RAS = ns(34), .RC = ns(48), .CL = ns(14), .CWL = ns(4),
                .CCD_S = ck(2), .CCD_L = ck(4), .CCD_R = ck(3), .RRD_S = ns(4), .RRD_L = ns(6), .FAW = ns(16),
                .WTR_S = ns(6), .WTR_L = ns(8), .turnaround = ck(2), .RTP = ns(6), .WR = ns(16),
                .RFC = ns(350), .RFC_bank = ns(200), .REFI = ns(3900), .RREFD = ns(8)},
     .source = "Ramulator 2 HBM3 row at 6.4 Gb/s as published with PIM studies (times of DRAMsim3 HBM2_8Gb_x128); RRD and FAW: "
               "DRAMSys HBM2; organisation: JESD238 (32-bit pseudo-channels, BL8, CK at a quarter of the data rate)"},
    {.name = "HBM3e",
     .organisation = {.width_bits = 32, .beats_per_clock = 4, .burst_beats = 8, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 1024, .separate_row_bus = true, .activate_clocks = 2},
     .timing = {.RCD_read = ns(14), .RCD_write = ns(14), .RP = ns(14), .RAS = ns(34), .RC = ns(48), .CL = ns(14), .CWL = ns(4),
                .CCD_S = ck(2), .CCD_L = ck(4), .CCD_R = ck(3), .RRD_S = ns(4), .RRD_L = ns(6), .FAW = ns(16),
                .WTR_S = ns(6), .WTR_L = ns(8), .turnaround = ck(2), .RTP = ns(6), .WR = ns(16),
                .RFC = ns(350), .RFC_bank = ns(200), .REFI = ns(3900), .RREFD = ns(8)},
     .source = "assumed: HBM3's core times at the higher clock; no timing of HBM3e is published"},
    {.name = "GDDR6",
     .organisation = {.width_bits = 16, .beats_per_clock = 8, .burst_beats = 16, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 2048, .separate_row_bus = false, .activate_clocks = 1},
     .timing = {.RCD_read = ns(14.82), .RCD_write = ns(9.12), .RP = ns(14.82), .RAS = ns(30.21), .RC = ns(45.03), .CL = ns(13.68), .CWL = ns(3.42),
                .CCD_S = ck(2), .CCD_L = ck(3), .CCD_R = ck(3), .RRD_S = ns(3.99), .RRD_L = ns(3.99), .FAW = ns(15.96),
                .WTR_S = ns(5.13), .WTR_L = ns(6.27), .turnaround = ck(4), .RTP = ns(2.28, 2), .WR = ns(14.82),
                .RFC = ns(119.7), .RFC_bank = ns(59.85), .REFI = ns(1900), .RREFD = ns(7.98)},
     .source = "Ramulator 2 GDDR6_2000_1350mV (clocks of 570 ps); CCD: DRAMsim3 GDDR5X_8Gb_x32, which has the burst's two clocks"},
    {.name = "GDDR6X",
     .organisation = {.width_bits = 16, .beats_per_clock = 8, .burst_beats = 16, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 2048, .separate_row_bus = false, .activate_clocks = 1},
     .timing = {.RCD_read = ns(14.82), .RCD_write = ns(9.12), .RP = ns(14.82), .RAS = ns(30.21), .RC = ns(45.03), .CL = ns(13.68), .CWL = ns(3.42),
                .CCD_S = ck(2), .CCD_L = ck(3), .CCD_R = ck(3), .RRD_S = ns(3.99), .RRD_L = ns(3.99), .FAW = ns(15.96),
                .WTR_S = ns(5.13), .WTR_L = ns(6.27), .turnaround = ck(4), .RTP = ns(2.28, 2), .WR = ns(14.82),
                .RFC = ns(119.7), .RFC_bank = ns(59.85), .REFI = ns(1900), .RREFD = ns(7.98)},
     .source = "assumed: GDDR6's core times; PAM4 doubles the bits of a symbol (8 symbols, 32 bytes), counted here as 16 beats; "
               "Micron publishes no timing of GDDR6X"},
    {.name = "DDR3",
     .organisation = {.width_bits = 64, .beats_per_clock = 2, .burst_beats = 8, .bank_groups = 1, .banks_per_group = 8,
                      .row_bytes = 8192, .separate_row_bus = false, .activate_clocks = 1},
     .timing = {.RCD_read = ns(13.09), .RCD_write = ns(13.09), .RP = ns(13.09), .RAS = ns(33), .RC = ns(46.09), .CL = ns(13.09), .CWL = ck(10),
                .CCD_S = ck(4), .CCD_L = ck(4), .CCD_R = ck(6), .RRD_S = ns(6, 4), .RRD_L = ns(6, 4), .FAW = ns(35),
                .WTR_S = ns(7.5, 4), .WTR_L = ns(7.5, 4), .turnaround = ck(2), .RTP = ns(7.5, 4), .WR = ns(15),
                .RFC = ns(260), .RFC_bank = ns(260), .REFI = ns(7800), .RREFD = ns(260)},
     .source = "JESD79-3 speed bin 2133N (14-14-14) as in the Linux Rockchip DDR drivers; RFC of 4 Gb; no per-bank refresh"},
    {.name = "DDR4",
     .organisation = {.width_bits = 64, .beats_per_clock = 2, .burst_beats = 8, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 8192, .separate_row_bus = false, .activate_clocks = 1},
     .timing = {.RCD_read = ns(13.75), .RCD_write = ns(13.75), .RP = ns(13.75), .RAS = ns(32.5), .RC = ns(46.25), .CL = ns(13.75), .CWL = ns(10),
                .CCD_S = ck(4), .CCD_L = ns(5, 4), .CCD_R = ck(6), .RRD_S = ns(2.5, 4), .RRD_L = ns(4.9, 4), .FAW = ns(21),
                .WTR_S = ns(2.5, 2), .WTR_L = ns(7.5, 4), .turnaround = ck(2), .RTP = ns(7.5, 4), .WR = ns(15),
                .RFC = ns(350), .RFC_bank = ns(350), .REFI = ns(7800), .RREFD = ns(350)},
     .source = "DRAMsim3 DDR4_8Gb_x8_3200; no per-bank refresh"},
    {.name = "LPDDR4X",
     .organisation = {.width_bits = 16, .beats_per_clock = 2, .burst_beats = 16, .bank_groups = 1, .banks_per_group = 8,
                      .row_bytes = 2048, .separate_row_bus = false, .activate_clocks = 4},
     .timing = {.RCD_read = ns(18, 4), .RCD_write = ns(18, 4), .RP = ns(18, 4), .RAS = ns(42, 3), .RC = ns(60), .CL = ns(17.5), .CWL = ns(8.75),
                .CCD_S = ck(8), .CCD_L = ck(8), .CCD_R = ck(9), .RRD_S = ns(10, 4), .RRD_L = ns(10, 4), .FAW = ns(40),
                .WTR_S = ns(10, 8), .WTR_L = ns(10, 8), .turnaround = ck(3), .RTP = ns(7.5, 8), .WR = ns(18, 6),
                .RFC = ns(280), .RFC_bank = ns(140), .REFI = ns(3904), .RREFD = ns(140)},
     .source = "DRAMSys configs/memspec/JEDEC_8Gb_LPDDR4-3200_16bit.json (JESD209-4, 8 Gb a channel; 4X lowers only the voltage of the pins); "
               "RP: of one bank; turnaround: its WPRE and RTRS; RREFD assumed; DQSCK left out"},
    {.name = "LPDDR5",
     .organisation = {.width_bits = 16, .beats_per_clock = 8, .burst_beats = 16, .bank_groups = 4, .banks_per_group = 4,
                      .row_bytes = 2048, .separate_row_bus = false, .activate_clocks = 2},
     .timing = {.RCD_read = ns(18, 2), .RCD_write = ns(18, 2), .RP = ns(18, 2), .RAS = ns(42, 3), .RC = ns(60), .CL = ns(21.25), .CWL = ns(13.75),
                .CCD_S = ck(2), .CCD_L = ck(4), .CCD_R = ck(4), .RRD_S = ns(5, 2), .RRD_L = ns(5, 2), .FAW = ns(20),
                .WTR_S = ns(6.25, 4), .WTR_L = ns(12, 4), .turnaround = ck(1), .RTP = ns(5, 2), .WR = ns(34, 3),
                .RFC = ns(210), .RFC_bank = ns(120), .REFI = ns(3900), .RREFD = ns(7.5)},
     .source = "gem5 LPDDR5_6400_1x16_BG_BL16; CWL: Ramulator 2 LPDDR5_6400; RFC_bank and RREFD assumed; WCK synchronisation left out"},
};
// clang-format on

}  // namespace

std::span<const Standard> standards() {
    return kStandards;
}

const Standard& find_standard(std::string_view name) {
    std::string known;
    for (const Standard& standard : kStandards) {
        if (name == standard.name) return standard;
        known += fmt::format(" {}", standard.name);
    }
    throw InputError(fmt::format("no DRAM standard '{}'; known are{}", name, known));
}

}  // namespace lockstep::memory::dram
