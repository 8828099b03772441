// SPDX-License-Identifier: Apache-2.0
// Local response normalisation of stored integers of at most 8 bits: x times a function of the sum
// of the squares of its neighbours, (bias + alpha sum)^-beta, that is looked up in a table and
// interpolated. NVDLA's CDP works so (nvdla.org, unit description: f(x) by look-up with 16-bit
// entries); of its two tables, one of powers of two and one of equal steps, ours is both: sums
// below 16 have an entry each, and each power of two above has eight.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "sim/numerics/requantise.h"

namespace lockstep::numerics {

/// Squares of 15 differences of 8-bit integers fit.
inline constexpr int kLocalResponseSumBits = 20, kLocalResponseSize = 15;
inline constexpr std::size_t kLocalResponseEntries = 145;

struct LocalResponseTable {
    std::array<std::uint16_t, kLocalResponseEntries> entries{};
    double step = 1;  ///< what an entry counts in
};

namespace detail {

struct LocalResponsePlace {
    std::size_t entry;
    std::uint32_t fraction;
    int bits;  ///< of the fraction
};

/// Of sums below 2^20; larger ones are as the largest.
inline LocalResponsePlace local_response_place(std::uint32_t sum) {
    constexpr std::uint32_t kMost = (1u << kLocalResponseSumBits) - 1, kDirect = 16;
    sum = std::min(sum, kMost);
    if (sum < kDirect) return {sum, 0, 0};
    const int bits = std::bit_width(sum) - 4;
    return {static_cast<std::size_t>(8 + 8 * (bits - 1)) + (sum >> bits), sum & ((1u << bits) - 1),
            bits};
}

/// The sum at which an entry stands.
inline double local_response_sum(std::size_t entry) {
    if (entry < 16) return static_cast<double>(entry);
    return static_cast<double>((8 + entry % 8) << ((entry - 16) / 8 + 1));
}

}  // namespace detail

/// Of (bias + alpha sum)^-beta, for sums of squares of stored steps; its largest entry is 65535.
/// bias > 0, alpha and beta >= 0.
LocalResponseTable local_response_table(double alpha, double beta, double bias);

/// The function of a sum: between two entries by a line, rounded, ties up.
inline std::int32_t local_response_of(std::span<const std::uint16_t, kLocalResponseEntries> table,
                                      std::uint32_t sum) {
    const auto [entry, fraction, bits] = detail::local_response_place(sum);
    const std::int64_t low = table[entry], rise = std::int64_t{table[entry + 1]} - low;
    return static_cast<std::int32_t>(low + ((rise * fraction + (1 << bits >> 1)) >> bits));
}

/// out[i] = x[i] times the function of the sum of the squares of x[i - before] to x[i + after], as
/// far as there are some; x without its zero point, of at most 10 bits with its sign.
void local_response_row(std::span<const std::int32_t> x, std::span<std::int32_t> out,
                        std::size_t before, std::size_t after,
                        std::span<const std::uint16_t, kLocalResponseEntries> table);

}  // namespace lockstep::numerics
