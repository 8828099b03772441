// SPDX-License-Identifier: Apache-2.0
// The coefficients of the multifunction unit: f(x0 + t) = c0 + c1 t + c2 t^2. The integers of
// tables.inc are those of the hardware's ROM as results measured on an H200 determine them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace lockstep::sass::mufu {

struct Segment {
    std::int32_t c0, c1, c2;
};

#include "isa/sass/mufu/tables.inc"

struct Digits {
    int c0 = 0, c1 = 0, c2 = 0;  ///< behind the point
};

/// One array of tables.inc.
struct Array {
    const char* name;
    const Segment* segments;
    int count, base;  ///< base: its first segment in the joint table
    Digits digits;
    int length;  ///< t of a segment is below 2^length; kTangent has several lengths
    int bias;    ///< added to c0, in units of 2^-40: it rounds the sum before it is truncated
};

// First segments of the functions in the joint table.
constexpr int kReciprocalBase = 0;
constexpr int kReciprocalRootBase = kReciprocalBase + 128;  // [1, 2), then [2, 4)
constexpr int kRootBase = kReciprocalRootBase + 128;        // likewise
constexpr int kExponentialBase = kRootBase + 128;
constexpr int kLogarithmBase = kExponentialBase + 64;
constexpr int kSineBase = kLogarithmBase + 64;
constexpr int kTangentBase = kSineBase + 64;
constexpr int kSegments = kTangentBase + static_cast<int>(std::size(kTangent));

constexpr Array kArrays[] = {
    {"kReciprocal", kReciprocal, 128, kReciprocalBase, {26, 16, 10}, -7, 4046},
    {"kReciprocalRoot1", kReciprocalRoot1, 64, kReciprocalRootBase, {26, 17, 11}, -6, -1},
    {"kReciprocalRoot2", kReciprocalRoot2, 64, kReciprocalRootBase + 64, {26, 17, 11}, -6, -1},
    {"kRoot1", kRoot1, 64, kRootBase, {26, 17, 12}, -6, -1},
    {"kRoot2", kRoot2, 64, kRootBase + 64, {26, 17, 12}, -6, -1},
    {"kExponential", kExponential, 64, kExponentialBase, {26, 15, 11}, -6, 8072},
    {"kLogarithm", kLogarithm, 64, kLogarithmBase, {26, 15, 10}, -6, 3348},
    {"kSine", kSine, 64, kSineBase, {26, 14, 10}, -6, 0},
    {"kTangent", kTangent, static_cast<int>(std::size(kTangent)), kTangentBase, {26, 19, 19}, 0, 0},
};

/// tanh has a table for each binade from 2^-8 to 2^3, of 2^bits segments.
constexpr int kTangentFirstExponent = -8;
constexpr int kTangentBits[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};

/// Of each of them: the first segment times 8, and by how much digits are shifted out.
constexpr auto kTangentStarts = [] {
    std::array<std::uint32_t, std::size(kTangentBits)> starts{};
    unsigned first = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        starts[i] = first << 3 | static_cast<unsigned>(6 - kTangentBits[i]);
        first += 1u << kTangentBits[i];
    }
    return starts;
}();

/// The distance t as the unit takes it: the 17 digits behind the segment's begin.
constexpr int kPlaces = 17;
/// Digits of the square that the unit forms, in units of the segment's length squared.
constexpr int kSquarePlaces = 15;

constexpr double power(int exponent) {
    double result = 1;
    for (; exponent > 0; --exponent) result *= 2;
    for (; exponent < 0; ++exponent) result /= 2;
    return result;
}

struct Slopes {
    float c1, c2;
};

/// Scaled so that c0 + c1 places + c2 square is the sum, exactly. c1 and c2 have few digits and
/// share an element, so that two gathers suffice.
struct Tables {
    double c0[kSegments] = {};
    std::int64_t c1_c2[kSegments] = {};

    constexpr void set(const Array& array, int i, int length) {
        const Segment& s = array.segments[i];
        const int at = array.base + i;
        c0[at] = s.c0 * power(-array.digits.c0) + array.bias * power(-40);
        c1_c2[at] = std::bit_cast<std::int64_t>(Slopes{
            static_cast<float>(s.c1 * power(-array.digits.c1 + length - kPlaces)),
            static_cast<float>(s.c2 * power(-array.digits.c2 + 2 * length - kSquarePlaces))});
    }
    constexpr Tables() {
        for (const Array& array : kArrays)
            if (array.base != kTangentBase)
                for (int i = 0; i < array.count; ++i) set(array, i, array.length);
        int exponent = kTangentFirstExponent, first = 0;
        for (const int bits : kTangentBits) {
            for (int i = 0; i < 1 << bits; ++i)
                set(*(std::end(kArrays) - 1), first++, exponent - bits);
            ++exponent;
        }
    }
};

inline constexpr Tables kTables;

}  // namespace lockstep::sass::mufu
