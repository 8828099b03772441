// SPDX-License-Identifier: Apache-2.0
// Any text as a StableHLO module: read or refused, never more.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/error/error.h"
#include "workloads/network/stablehlo/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        lockstep::network::parse_stablehlo({reinterpret_cast<const char*>(data), size}, "fuzz");
    } catch (const lockstep::InputError&) {
    }
    return 0;
}
