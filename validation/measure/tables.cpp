// SPDX-License-Identifier: Apache-2.0
// MUFU approximates by tables and quadratic interpolation in hardware (Oberman and Siu, 2005); its
// results differ from the rounded ones by few units in the last place, which compresses well.
#include "validation/measure/tables.h"

#include <bit>
#include <cmath>

#include "sim/error/error.h"
#include "validation/measure/packed.h"

namespace lockstep::validation {

namespace {

std::uint32_t bits(float x) {
    return std::bit_cast<std::uint32_t>(x);
}

}  // namespace

std::span<const TableRange> table_ranges() {
    constexpr int kBinade = 1 << 23;
    static const TableRange kRanges[] = {
        {"rcp", 0x3f800000, kBinade},       // [1, 2)
        {"rsq", 0x3f800000, 2 * kBinade},   // [1, 4): the exponent's parity matters
        {"sqrt", 0x3f800000, 2 * kBinade},  //
        {"ex2", 0x3f000000, 2 * kBinade},   // [0.5, 2)
        {"lg2", 0x3f000000, 2 * kBinade},   // [0.5, 2)
        {"sin", 0x3f000000, 2 * kBinade},   // [0.5, 2)
        {"cos", 0x3f000000, 2 * kBinade},   //
        {"tanh", 0x3f000000, 2 * kBinade},  //
    };
    return kRanges;
}

float rounded_result(const std::string& function, float value) {
    const long double x = value;
    if (function == "rcp") return static_cast<float>(1 / x);
    if (function == "rsq") return static_cast<float>(1 / std::sqrt(x));
    if (function == "sqrt") return static_cast<float>(std::sqrt(x));
    if (function == "ex2") return static_cast<float>(std::exp2(x));
    if (function == "lg2") return static_cast<float>(std::log2(x));
    if (function == "sin") return static_cast<float>(std::sin(x));
    if (function == "cos") return static_cast<float>(std::cos(x));
    LOCKSTEP_CHECK(function == "tanh", "no function {}", function);
    return static_cast<float>(std::tanh(x));
}

std::string compress_table(const TableRange& range, std::span<const float> results) {
    LOCKSTEP_CHECK(results.size() == static_cast<std::size_t>(range.count), "{} results of {}",
                   results.size(), range.count);
    std::string plain;
    plain.reserve(results.size());
    for (std::uint32_t i = 0; i < results.size(); ++i) {
        const float exact =
            rounded_result(range.function, std::bit_cast<float>(range.first_bits + i));
        // Modulo 2^32, so that any result at all can be stored.
        const std::uint32_t difference = bits(results[i]) - bits(exact);
        std::uint32_t zigzag = difference << 1 ^ (difference >> 31 ? 0xffffffffu : 0u);
        for (; zigzag >= 0x80; zigzag >>= 7) plain += static_cast<char>(zigzag | 0x80);
        plain += static_cast<char>(zigzag);
    }
    return pack(std::as_bytes(std::span(plain)));
}

std::vector<float> expand_table(const TableRange& range, std::string_view bytes,
                                const std::string& file_name) {
    const auto fail = [&](const std::string& why) {
        throw InputError(fmt::format("{}: table of {}: {}", file_name, range.function, why));
    };
    // A difference takes at most five bytes.
    const std::vector<std::byte> plain =
        unpack(bytes, std::uint64_t{5} * static_cast<unsigned>(range.count), file_name);
    const std::size_t size = plain.size();
    std::vector<float> results;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(range.count); ++i) {
        std::uint32_t zigzag = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at == size || shift > 28) fail(fmt::format("ends or is wrong at offset {}", at));
            const auto byte = static_cast<unsigned char>(plain[at++]);
            zigzag |= std::uint32_t{byte & 0x7fu} << shift;
            if (byte < 0x80) break;
        }
        const std::uint32_t difference = zigzag >> 1 ^ (zigzag & 1 ? 0xffffffffu : 0u);
        const float exact =
            rounded_result(range.function, std::bit_cast<float>(range.first_bits + i));
        results.push_back(std::bit_cast<float>(bits(exact) + difference));
    }
    if (at != size) fail(fmt::format("{} bytes too many", size - at));
    return results;
}

}  // namespace lockstep::validation
