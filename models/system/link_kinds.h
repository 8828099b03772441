// SPDX-License-Identifier: Apache-2.0
// The values of `link.kind` and `peer.kind`.
#pragma once

#include <cstdint>

#include "sim/config/schema.h"

namespace lockstep::system {

enum class LinkKind : std::uint8_t { kPcie3, kPcie4, kPcie5, kNvlinkC2c };
inline constexpr config::Choice kLinkKinds[] = {
    {"pcie3", "PCI Express, 8 GT/s a lane"},
    {"pcie4", "16 GT/s"},
    {"pcie5", "32 GT/s"},
    {"nvlink_c2c", "NVLink from chip to chip, link.c2c_bandwidth"},
};

enum class PeerKind : std::uint8_t { kNvlink, kPcie, kNone };
inline constexpr config::Choice kPeerKinds[] = {
    {"nvlink", "NVLinks of their own"},
    {"pcie", "their links to the host"},
    {"none", "nothing: copies between them go through the host's memory"},
};

}  // namespace lockstep::system
