// SPDX-License-Identifier: Apache-2.0
#include "sim/numerics/local_response.h"

#include <algorithm>
#include <cmath>

namespace lockstep::numerics {

LocalResponseTable local_response_table(double alpha, double beta, double bias) {
    constexpr double kMost = 65535;
    LocalResponseTable table;
    // It falls as the sum grows.
    const auto value = [&](std::size_t entry) {
        return std::pow(bias + alpha * detail::local_response_sum(entry), -beta);
    };
    const double most = value(0);
    for (std::size_t i = 0; i < kLocalResponseEntries; ++i)
        table.entries[i] = static_cast<std::uint16_t>(std::lround(value(i) / most * kMost));
    table.step = most / kMost;
    return table;
}

void local_response_row(std::span<const std::int32_t> x, std::span<std::int32_t> out,
                        std::size_t before, std::size_t after,
                        std::span<const std::uint16_t, kLocalResponseEntries> table) {
    const auto square = [&](std::size_t i) { return static_cast<std::uint32_t>(x[i] * x[i]); };
    std::uint32_t sum = 0;  // of what the window holds
    for (std::size_t i = 0; i < std::min(after, x.size()); ++i) sum += square(i);
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (i + after < x.size()) sum += square(i + after);
        if (i > before) sum -= square(i - before - 1);
        out[i] = x[i] * local_response_of(table, sum);
    }
}

}  // namespace lockstep::numerics
