// SPDX-License-Identifier: Apache-2.0
// What the memory unit makes of a warp's 32 addresses: lines and sectors in global memory, banks
// and wavefronts in shared memory. The units are those of the cycle model.
#include <fmt/format.h>

#include <bit>

#include "isa/sass/tma/box.h"
#include "models/gpu/sm/coalescer.h"
#include "models/gpu/sm/shared_banks.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;
using sass::kWarpSize;

constexpr unsigned kLineBytes = 128, kSectorBytes = 32, kBankBytes = 4;

/// "linear": lane l reads element l * stride. "column": lane l reads element `column` of row l of a
/// matrix with `pitch` elements a row, whose rows of 128 bytes may be swizzled. "random": elements
/// below `range`, the same each time.
struct Pattern {
    std::string kind;
    unsigned width = 4;
    std::uint64_t stride = 1, column = 0, pitch = 32, range = 1024, offset = 0;
    sass::TensorSwizzle swizzle = sass::TensorSwizzle::kNone;

    std::uint64_t address(unsigned lane) const {
        if (kind == "linear") return offset + lane * stride * width;
        if (kind == "random") return offset + lane_hash(lane) % range * width;
        const auto at = static_cast<std::uint32_t>((lane * pitch + column) * width);
        return offset + sass::swizzled(at, swizzle);
    }

  private:
    /// SplitMix64's finaliser (Steele, Lea, Flood, OOPSLA 2014).
    static std::uint64_t lane_hash(std::uint64_t lane) {
        std::uint64_t x = (lane + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        return x ^ x >> 31;
    }
};

Pattern read_pattern(WidgetRequest& request) {
    Pattern pattern;
    pattern.kind = request.one_of("pattern", "linear", {"linear", "column", "random"});
    const std::vector<std::string> widths = {"1", "2", "4", "8", "16"};
    pattern.width = static_cast<unsigned>(std::stoi(request.one_of("width", "4", widths)));
    pattern.stride = static_cast<std::uint64_t>(request.whole("stride", 1, 0, 1024));
    pattern.offset = static_cast<std::uint64_t>(request.whole("offset", 0, 0, 1024));
    pattern.column = static_cast<std::uint64_t>(request.whole("column", 0, 0, 255));
    pattern.pitch = static_cast<std::uint64_t>(request.whole("pitch", 32, 1, 256));
    pattern.range = static_cast<std::uint64_t>(request.whole("range", 1024, 1, 1 << 20));
    const std::vector<std::string> swizzles = {"0", "32", "64", "128"};
    const std::string swizzle = request.one_of("swizzle", "0", swizzles);
    for (std::size_t i = 0; i < swizzles.size(); ++i)
        if (swizzles[i] == swizzle) pattern.swizzle = static_cast<sass::TensorSwizzle>(i);
    if (pattern.offset % pattern.width != 0)
        throw InputError(
            fmt::format("offset: elements of {} bytes are aligned to their size; {} is not",
                        pattern.width, pattern.offset));
    return pattern;
}

Json global_part(const sass::Access& access, unsigned tags_per_cycle) {
    gpu::LineAccesses lines;
    gpu::coalesce_load(access, access.lanes, lines);
    Json list = Json::array();
    unsigned sectors = 0;
    for (const gpu::LineAccess& line : lines) {
        sectors += static_cast<unsigned>(std::popcount(line.sectors));
        list.push_back({{"address", line.line}, {"sectors", line.sectors}});
    }
    const auto lanes = static_cast<unsigned>(std::popcount(access.lanes));
    const unsigned used = lanes * access.width;
    return {{"lines", std::move(list)},
            {"sectors", sectors},
            {"least_sectors", (used + kSectorBytes - 1) / kSectorBytes},
            {"bytes_moved", sectors * kSectorBytes},
            {"bytes_used", used},
            {"tag_cycles", gpu::tag_cycles(lines, tags_per_cycle)}};
}

Json shared_part(const sass::Access& access) {
    Json banks = Json::array();
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
        banks.push_back(access.address[lane] / kBankBytes % gpu::kBanks);
    return {{"banks", std::move(banks)},
            {"wavefronts", gpu::bank_wavefronts(access.address, access.lanes, access.width,
                                                gpu::BankAccess::kPacked)},
            {"least_wavefronts", gpu::ideal_wavefronts(access.lanes, access.width)}};
}

}  // namespace

Json warp_access(const nlohmann::json& json) {
    WidgetRequest request(json);
    const Pattern pattern = read_pattern(request);
    const auto active = static_cast<unsigned>(request.whole("lanes", 32, 1, 32));
    const std::string machine = request.one_of("machine", "h200", {"h200", "a100", "t4"});
    request.finish();
    sass::Access access;
    access.width = static_cast<std::uint8_t>(pattern.width);
    access.lanes = active == kWarpSize ? ~0u : (1u << active) - 1;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) access.address[lane] = pattern.address(lane);
    Json addresses = Json::array();
    for (unsigned lane = 0; lane < active; ++lane) addresses.push_back(access.address[lane]);
    const auto tags = config::Machine::load(machine)->integer("l1.tags_per_cycle");
    return {{"width", pattern.width},
            {"line_bytes", kLineBytes},
            {"sector_bytes", kSectorBytes},
            {"addresses", std::move(addresses)},
            {"global", global_part(access, static_cast<unsigned>(tags))},
            {"shared", shared_part(access)}};
}

}  // namespace lockstep::lab
