// SPDX-License-Identifier: Apache-2.0
#include "sim/config/nearest.h"

#include <algorithm>
#include <numeric>

namespace lockstep::config {

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
            diagonal = above;
        }
    }
    return row.back();
}

}  // namespace

std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates) {
    std::string best;
    std::size_t best_distance = std::string::npos;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(wanted, candidate);
        if (distance < best_distance && distance <= std::max(wanted.size(), candidate.size()) / 2) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace lockstep::config
