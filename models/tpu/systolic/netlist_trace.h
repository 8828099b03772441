// SPDX-License-Identifier: Apache-2.0
// What of a netlist's run is written to a .vcd, and how much that is.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace lockstep::tpu {

struct NetlistTrace {
    NetlistTrace(std::string vcd = "", std::int64_t first = 0,
                 std::int64_t end = std::numeric_limits<std::int64_t>::max())
        : file(std::move(vcd)), from(first), until(end) {}

    std::string file;          ///< empty: none
    std::int64_t from, until;  ///< cycles [from, until)
};

/// What a PE adds to the file in a cycle in which all its wires change: 9 values of 32 bits or
/// single ones, each with its name, come to 58 bytes on average (products of random int8).
inline constexpr std::int64_t kTraceBytesOfPe = 64;
/// The largest file that is begun: viewers do not open larger ones.
inline constexpr std::int64_t kMostTraceBytes = std::int64_t{1} << 30;

}  // namespace lockstep::tpu
