// SPDX-License-Identifier: Apache-2.0
// A result is the sum truncated, so it bounds the sum to an interval. For given c1 and c2 each
// sample bounds c0 to an interval of few integers, and the best c0 is the one that most of them
// hold; c1 and c2 are looked for around those of the least squares.
#include "isa/sass/mufu/fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "isa/sass/mufu/tables.h"
#include "sim/error/error.h"

namespace lockstep::sass::mufu {

namespace {

constexpr int kAround = 2;                   // integers on either side of the least squares
constexpr std::size_t kSearchSamples = 700;  // of a segment, while looking
constexpr std::size_t kFinalists = 6;

/// What one unit of a coefficient adds to the sum: for each unit of 1, places and square.
struct Units {
    double c0, c1, c2, bias;
};

Units units(const Array& array, int length) {
    return {std::ldexp(1.0, -array.digits.c0), std::ldexp(1.0, -array.digits.c1 + length - kPlaces),
            std::ldexp(1.0, -array.digits.c2 + 2 * length - kSquarePlaces),
            std::ldexp(array.bias, -40)};
}

/// c0 for given c1 and c2, and how many samples it fulfils.
std::pair<std::int32_t, std::size_t> best_c0(std::span<const Sample> samples, std::size_t step,
                                             double c1, double c2, const Units& units) {
    std::vector<std::pair<std::int64_t, int>> edges;  // where intervals of integers begin and end
    for (std::size_t i = 0; i < samples.size(); i += step) {
        const Sample& s = samples[i];
        const double rest = s.places * c1 + square_of_places(s.places) * c2 + units.bias;
        const auto low = static_cast<std::int64_t>(std::ceil((s.low - rest) / units.c0));
        const auto end = static_cast<std::int64_t>(std::ceil((s.high - rest) / units.c0));
        if (low >= end) continue;
        edges.emplace_back(low, 1);
        edges.emplace_back(end, -1);
    }
    std::sort(edges.begin(), edges.end());
    std::int64_t best = 0;
    int inside = 0, most = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) {
        inside += edges[i].second;
        if (inside > most && (i + 1 == edges.size() || edges[i + 1].first > edges[i].first))
            most = inside, best = edges[i].first;
    }
    return {static_cast<std::int32_t>(best), static_cast<std::size_t>(most)};
}

/// c1 and c2 of the least squares; with a fixed c2 where one is given.
std::array<double, 2> least_squares(std::span<const Sample> samples, const double* fixed_c2) {
    double s0 = 0, s1 = 0, s2 = 0, s11 = 0, s12 = 0, s22 = 0, y0 = 0, y1 = 0, y2 = 0;
    for (const Sample& s : samples) {
        const double u = s.places * 0x1p-17, q = square_of_places(s.places) * 0x1p-15;
        double y = (s.low + s.high) / 2;
        if (fixed_c2 != nullptr) y -= *fixed_c2 * square_of_places(s.places);
        s0 += 1, s1 += u, s2 += q, s11 += u * u, s12 += u * q, s22 += q * q;
        y0 += y, y1 += y * u, y2 += y * q;
    }
    if (fixed_c2 != nullptr)
        return {(s0 * y1 - s1 * y0) / (s0 * s11 - s1 * s1) * 0x1p-17, *fixed_c2};
    // Cramer's rule.
    const auto det = [](double a, double b, double c, double d, double e, double f, double g,
                        double i, double j) {
        return a * (e * j - f * i) - b * (d * j - f * g) + c * (d * i - e * g);
    };
    const double all = det(s0, s1, s2, s1, s11, s12, s2, s12, s22);
    return {det(s0, y0, s2, s1, y1, s12, s2, y2, s22) / all * 0x1p-17,
            det(s0, s1, y0, s1, s11, y1, s2, s12, y2) / all * 0x1p-15};
}

/// The length of one of the array's segments.
int length_of(const Array& array, int index) {
    if (array.base != kTangentBase) return array.length;
    int exponent = kTangentFirstExponent, first = 0;
    for (const int bits : kTangentBits) {
        if (index < first + (1 << bits)) return exponent - bits;
        first += 1 << bits, ++exponent;
    }
    LOCKSTEP_CHECK(false, "no segment {}", index);
}

}  // namespace

int segment_count() {
    return kSegments;
}

Sample sample(Function function, std::uint32_t x, std::uint32_t result) {
    const auto exponent_of = [](std::uint32_t bits) {
        return static_cast<int>(bits >> 23 & 255) - 127;
    };
    const std::uint32_t magnitude = result & 0x7fffffff;
    const double value = std::bit_cast<float>(magnitude);
    const double ulp = std::ldexp(1.0, exponent_of(magnitude) - 23);
    Sample s;
    quadratic_place(function, x, s.segment, s.places);
    s.low = value;
    s.high = value + ulp;
    const auto scaled = [&](int exponent) {
        s.low = std::ldexp(s.low, exponent), s.high = std::ldexp(s.high, exponent);
    };
    const int e = exponent_of(x);
    switch (function) {
        case Function::kRcp:
            scaled(e);
            break;
        case Function::kRsq:
            scaled(e >> 1);
            break;
        case Function::kSqrt:
            scaled(-(e >> 1));
            break;
        case Function::kEx2:
            scaled(-static_cast<int>(std::floor(double{std::bit_cast<float>(x)})));
            break;
        case Function::kLg2:
            s.high = value + std::max(ulp, 0x1p-36);  // it has no digits behind
            // Below 1 the result is negative: the complement of the sum of quadratic and exponent.
            if (result >> 31 != 0) std::tie(s.low, s.high) = std::pair(-s.high, -s.low);
            s.low -= e, s.high -= e;
            break;
        default:
            break;
    }
    return s;
}

Fit fit(std::span<const Sample> samples, const Array& array, int index) {
    const Units unit = units(array, length_of(array, index));
    const std::size_t step = std::max<std::size_t>(1, samples.size() / kSearchSamples);
    const double c2_middle = std::round(least_squares(samples, nullptr)[1] / unit.c2);
    std::vector<Fit> candidates;
    for (int j = -kAround; j <= kAround; ++j) {
        const double c2 = (c2_middle + j) * unit.c2;
        const double c1_middle = std::round(least_squares(samples, &c2)[0] / unit.c1);
        for (int i = -kAround; i <= kAround; ++i) {
            const double c1 = (c1_middle + i) * unit.c1;
            const auto [c0, count] = best_c0(samples, step, c1, c2, unit);
            candidates.push_back({{c0, static_cast<std::int32_t>(c1_middle + i),
                                   static_cast<std::int32_t>(c2_middle + j)},
                                  count});
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Fit& a, const Fit& b) { return a.fulfilled > b.fulfilled; });
    candidates.resize(std::min(candidates.size(), kFinalists));
    Fit best;
    for (Fit& candidate : candidates) {
        Segment& q = candidate.segment;
        std::tie(q.c0, candidate.fulfilled) =
            best_c0(samples, 1, q.c1 * unit.c1, q.c2 * unit.c2, unit);
        if (candidate.fulfilled > best.fulfilled) best = candidate;
    }
    return best;
}

FittedTables fit_tables(const std::vector<std::vector<Sample>>& samples_of_segment) {
    FittedTables fitted;
    fitted.text =
        "// SPDX-License-Identifier: Apache-2.0\n// Written by lockstep_fit_mufu from results of "
        "an "
        "H200 (driver 580.159.04, 2026-11-27).\n";
    char line[96];
    for (const Array& array : kArrays) {
        std::snprintf(line, sizeof line, "// digits behind the point: %d, %d, %d\n",
                      array.digits.c0, array.digits.c1, array.digits.c2);
        fitted.text += line;
        std::snprintf(line, sizeof line, "constexpr Segment %s[%d] = {\n", array.name, array.count);
        fitted.text += line;
        for (int i = 0; i < array.count; ++i) {
            const Segment& old = array.segments[i];
            Segment q = old;
            const auto& samples = samples_of_segment[static_cast<std::size_t>(array.base + i)];
            if (samples.size() >= kSearchSamples) {
                const Fit found = fit(samples, array, i);
                q = found.segment;
                fitted.samples += samples.size();
                fitted.fulfilled += found.fulfilled;
                ++fitted.segments;
            }
            std::snprintf(line, sizeof line, "    {%d, %d, %d},\n", q.c0, q.c1, q.c2);
            fitted.text += line;
        }
        fitted.text += "};\n";
    }
    return fitted;
}

}  // namespace lockstep::sass::mufu
