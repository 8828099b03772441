// SPDX-License-Identifier: Apache-2.0
// SMs of the same GPC are numbered in steps of twice the number of GPCs (accel-sim's applications,
// measured on H100 SXM: GPC 0 is SMs 0, 16, 32, ...). Parts of a die that are fused off leave GPCs
// of different sizes.
#include "models/gpu/chip/gpc_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "sim/error/error.h"

namespace lockstep::gpu {

namespace {

/// Most SMs of each GPC, as gpc.sms has them; empty: all the same.
std::vector<std::uint32_t> sizes_of(const config::Machine& machine) {
    const std::string& text = machine.text("gpc.sms");
    std::vector<std::uint32_t> sizes;
    if (text == "even") return sizes;
    std::istringstream list(text);
    std::uint32_t size = 0;
    char comma = ',';
    while (comma == ',' && list >> size) {
        sizes.push_back(size);
        comma = 0;
        list >> comma;
    }
    if (sizes.empty() || comma != 0)
        throw InputError(
            fmt::format("{}: gpc.sms: '{}' is neither 'even' nor a list of numbers as 16,18,16",
                        machine.name(), text));
    return sizes;
}

}  // namespace

GpcMap::GpcMap(const config::Machine& machine) {
    const auto count = static_cast<std::uint32_t>(machine.integer("sm.count"));
    const auto gpcs =
        std::min(static_cast<std::uint32_t>(machine.integer("gpc.count")), (count + 1) / 2);
    std::vector<std::uint32_t> most = sizes_of(machine);
    // A machine with more SMs than the list has fills up GPCs that the list does not name.
    most.resize(gpcs, std::numeric_limits<std::uint32_t>::max());
    sms_.resize(gpcs);
    gpc_.resize(count);
    constexpr std::uint32_t kSmsOfTpc = 2;
    std::uint32_t gpc = 0;
    for (std::uint32_t sm = 0; sm < count; sm += kSmsOfTpc, ++gpc) {
        for (std::uint32_t i = 0; i < gpcs && sms_[gpc % gpcs].size() >= most[gpc % gpcs]; ++i)
            ++gpc;
        for (std::uint32_t i = sm; i < std::min(sm + kSmsOfTpc, count); ++i) {
            sms_[gpc % gpcs].push_back(static_cast<std::uint16_t>(i));
            gpc_[i] = gpc % gpcs;
        }
    }
}

std::uint64_t GpcMap::clusters(std::uint32_t ctas, std::uint32_t by_sm) const {
    std::uint64_t sum = 0;
    for (const auto& sms : sms_) sum += sms.size() * by_sm / ctas;
    return sum;
}

}  // namespace lockstep::gpu
