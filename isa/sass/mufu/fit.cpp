// SPDX-License-Identifier: Apache-2.0
// A result is the quadratic rounded to nearest, so it bounds the quadratic to an interval. For
// given c1 and c2 each sample bounds c0 to an interval of few integers, and the best c0 is the one
// that most of them hold; c1 and c2 are looked for around those of the least squares.
#include "isa/sass/mufu/fit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "isa/sass/mufu/tables.h"

namespace lockstep::sass::mufu {

namespace {

constexpr int kAround = 4;                   // integers on either side of the least squares
constexpr std::size_t kSearchSamples = 700;  // of a segment, while looking
constexpr std::size_t kFinalists = 6;

double scale(int digits) {
    return std::ldexp(1.0, digits);
}

/// c0 for given c1 and c2, and how many samples it fulfils.
std::pair<std::int32_t, std::size_t> best_c0(std::span<const Sample> samples, std::size_t step,
                                             double c1, double c2, int digits) {
    std::vector<std::pair<std::int64_t, int>> edges;  // where intervals of integers begin and end
    for (std::size_t i = 0; i < samples.size(); i += step) {
        const Sample& s = samples[i];
        const double rest = s.t * (c1 + s.t * c2);
        const auto low = static_cast<std::int64_t>(std::ceil((s.low - rest) * scale(digits)));
        const auto high = static_cast<std::int64_t>(std::floor((s.high - rest) * scale(digits)));
        if (low > high) continue;
        edges.emplace_back(low, 1);
        edges.emplace_back(high + 1, -1);
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

/// Slope and curvature of the least squares; with a fixed curvature where one is given.
std::array<double, 2> least_squares(std::span<const Sample> samples, const double* curvature) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, y0 = 0, y1 = 0, y2 = 0, h = 0;
    for (const Sample& s : samples) h = std::max(h, s.t);
    if (h == 0) return {0, curvature == nullptr ? 0 : *curvature};
    for (const Sample& s : samples) {
        const double t = s.t / h;
        double y = (s.low + s.high) / 2;
        if (curvature != nullptr) y -= *curvature * s.t * s.t;
        s0 += 1, s1 += t, s2 += t * t, s3 += t * t * t, s4 += t * t * t * t;
        y0 += y, y1 += y * t, y2 += y * t * t;
    }
    if (curvature != nullptr) return {(s0 * y1 - s1 * y0) / (s0 * s2 - s1 * s1) / h, *curvature};
    // Cramer's rule.
    const auto det = [](double a, double b, double c, double d, double e, double f, double g,
                        double i, double j) {
        return a * (e * j - f * i) - b * (d * j - f * g) + c * (d * i - e * g);
    };
    const double all = det(s0, s1, s2, s1, s2, s3, s2, s3, s4);
    return {det(s0, y0, s2, s1, y1, s3, s2, y2, s4) / all / h,
            det(s0, s1, y0, s1, s2, y1, s2, s3, y2) / all / (h * h)};
}

/// One array of tables.inc.
struct Array {
    const char* name;
    const Segment* segments;
    int count, base;
    Digits digits;
};

const std::vector<Array>& arrays() {
    static const std::vector<Array> all = {
        {"kReciprocal", kReciprocal, 128, kReciprocalBase, {26, 16, 10}},
        {"kReciprocalRoot1", kReciprocalRoot1, 64, kReciprocalRootBase, {26, 17, 11}},
        {"kReciprocalRoot2", kReciprocalRoot2, 64, kReciprocalRootBase + 64, {26, 17, 11}},
        {"kExponential", kExponential, 64, kExponentialBase, {25, 15, 11}},
        {"kLogarithm", kLogarithm, 64, kLogarithmBase, {26, 15, 10}},
        {"kSine", kSine, 64, kSineBase, {26, 14, 10}},
        {"kTangent0", kTangent0, 8, kTangentBase, {26, 15, 10}},
        {"kTangent1", kTangent1, 8, kTangentBase + 8, {26, 15, 10}},
        {"kTangent2", kTangent2, 8, kTangentBase + 16, {26, 15, 10}},
        {"kTangent3", kTangent3, 8, kTangentBase + 24, {26, 15, 10}},
        {"kTangent4", kTangent4, 8, kTangentBase + 32, {26, 15, 10}},
        {"kTangent5", kTangent5, 8, kTangentBase + 40, {26, 15, 10}},
        {"kTangent6", kTangent6, 8, kTangentBase + 48, {26, 15, 10}},
        {"kTangent7", kTangent7, 8, kTangentBase + 56, {26, 15, 10}},
    };
    return all;
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
    const bool is_power = (magnitude & 0x7fffff) == 0;
    Sample s;
    quadratic_place(function, x, s.segment, s.t);
    s.low = value - (is_power ? ulp / 4 : ulp / 2);
    s.high = value + ulp / 2;
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
        case Function::kEx2:
            scaled(-static_cast<int>(std::floor(double{std::bit_cast<float>(x)})));
            break;
        case Function::kLg2: {
            // Below 1 the result is negative: the quadratic is it plus the exponent taken away.
            const double low = s.low, high = s.high;
            s.low = (result >> 31 ? -high : low) - e, s.high = (result >> 31 ? -low : high) - e;
            break;
        }
        default:
            break;
    }
    return s;
}

Fit fit(std::span<const Sample> samples, Digits digits) {
    const std::size_t step = std::max<std::size_t>(1, samples.size() / kSearchSamples);
    const double c2_middle = std::round(least_squares(samples, nullptr)[1] * scale(digits.c2));
    std::vector<Fit> candidates;
    for (int j = -kAround; j <= kAround; ++j) {
        const double c2 = (c2_middle + j) / scale(digits.c2);
        const double c1_middle = std::round(least_squares(samples, &c2)[0] * scale(digits.c1));
        for (int i = -kAround; i <= kAround; ++i) {
            const double c1 = (c1_middle + i) / scale(digits.c1);
            const auto [c0, count] = best_c0(samples, step, c1, c2, digits.c0);
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
        Quadratic& q = candidate.quadratic;
        std::tie(q.c0, candidate.fulfilled) =
            best_c0(samples, 1, q.c1 / scale(digits.c1), q.c2 / scale(digits.c2), digits.c0);
        if (candidate.fulfilled > best.fulfilled) best = candidate;
    }
    return best;
}

FittedTables fit_tables(const std::vector<std::vector<Sample>>& samples_of_segment) {
    FittedTables fitted;
    fitted.text =
        "// SPDX-License-Identifier: Apache-2.0\n// Written by lockstep_fit_mufu from results of "
        "the silicon; what it has none of is as make_tables.cpp made it.\n";
    char line[96];
    for (const Array& array : arrays()) {
        std::snprintf(line, sizeof line, "// digits behind the point: %d, %d, %d\n",
                      array.digits.c0, array.digits.c1, array.digits.c2);
        fitted.text += line;
        std::snprintf(line, sizeof line, "constexpr Segment %s[%d] = {\n", array.name, array.count);
        fitted.text += line;
        for (int i = 0; i < array.count; ++i) {
            const Segment& old = array.segments[i];
            Quadratic q{old.c0, old.c1, old.c2};
            const auto& samples = samples_of_segment[static_cast<std::size_t>(array.base + i)];
            if (samples.size() >= kSearchSamples) {
                const Fit found = fit(samples, array.digits);
                q = found.quadratic;
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
