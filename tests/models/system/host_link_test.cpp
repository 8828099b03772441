// SPDX-License-Identifier: Apache-2.0
#include "models/system/host_link.h"

#include <gmock/gmock.h>

namespace lockstep::system {
namespace {

double gigabytes(const LinkDirection& way) {
    return way.bytes_per_second / 1e9;
}

TEST(HostLink, PcieLeavesWhatLanesCodingPacketsAndFlowControlLeave) {
    // Lanes x transfers x 128/130 / 8, less 8%, times 256 of 276 or 280 bytes.
    const HostLink third = HostLink::of(*config::Machine::load("v100"));
    EXPECT_NEAR(gigabytes(third.to_device), 15.754 * 0.92 * 256 / 276, 0.01);
    EXPECT_NEAR(gigabytes(third.to_host), 15.754 * 0.92 * 256 / 280, 0.01);
    const HostLink fourth = HostLink::of(*config::Machine::load("a100"));
    const HostLink fifth = HostLink::of(*config::Machine::load("h200"));
    EXPECT_NEAR(gigabytes(fourth.to_host), 2 * gigabytes(third.to_host), 0.01);
    EXPECT_NEAR(gigabytes(fifth.to_host), 4 * gigabytes(third.to_host), 0.01);
    const HostLink half = HostLink::of(*config::Machine::load("h200", {"link.lanes=8"}));
    EXPECT_NEAR(gigabytes(half.to_host), 2 * gigabytes(third.to_host), 0.01);
}

TEST(HostLink, NvlinkC2cIsAnOption) {
    const HostLink link = HostLink::of(
        *config::Machine::load("h200", {"link.kind=nvlink_c2c", "link.protocol_overhead=0.1"}));
    EXPECT_NEAR(gigabytes(link.to_device), 405, 0.01);
    EXPECT_NEAR(gigabytes(link.to_host), 405, 0.01);
}

TEST(HostLink, RefusesOtherKinds) {
    try {
        HostLink::of(*config::Machine::load("h200", {"link.kind=isa"}));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(
            error.what(),
            testing::HasSubstr("link.kind: 'isa' is none of pcie3, pcie4, pcie5, nvlink_c2c"));
    }
}

}  // namespace
}  // namespace lockstep::system
