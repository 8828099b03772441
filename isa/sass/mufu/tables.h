// SPDX-License-Identifier: Apache-2.0
// The coefficient tables of the multifunction unit as doubles: f(x0 + t) = c0 + c1 t + c2 t^2. The
// integers of tables.inc are what the hardware's ROM would hold; tables measured on silicon replace
// that file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lockstep::sass::mufu {

struct Segment {
    std::int32_t c0, c1, c2;
};

#include "isa/sass/mufu/tables.inc"

// First segments of the functions in the joint table.
constexpr int kReciprocalBase = 0;
constexpr int kReciprocalRootBase = kReciprocalBase + 128;  // [1, 2), then [2, 4)
constexpr int kExponentialBase = kReciprocalRootBase + 128;
constexpr int kLogarithmBase = kExponentialBase + 64;
constexpr int kSineBase = kLogarithmBase + 64;  // and one more for the end of the quarter
constexpr int kTangentBase = kSineBase + 65;    // eight binades from 2^-5
constexpr int kSegments = kTangentBase + 64;

struct Tables {
    double c0[kSegments] = {};
    double c1[kSegments] = {};
    double c2[kSegments] = {};

    constexpr Tables() {
        const auto add = [this](int base, const auto& segments, int d0, int d1, int d2) {
            for (std::size_t i = 0; i < std::size(segments); ++i) {
                c0[base + i] = segments[i].c0 / static_cast<double>(1 << d0);
                c1[base + i] = segments[i].c1 / static_cast<double>(1 << d1);
                c2[base + i] = segments[i].c2 / static_cast<double>(1 << d2);
            }
        };
        add(kReciprocalBase, kReciprocal, 26, 16, 10);
        add(kReciprocalRootBase, kReciprocalRoot1, 26, 17, 11);
        add(kReciprocalRootBase + 64, kReciprocalRoot2, 26, 17, 11);
        add(kExponentialBase, kExponential, 25, 15, 11);
        add(kLogarithmBase, kLogarithm, 26, 15, 10);
        add(kSineBase, kSine, 26, 14, 10);
        c0[kSineBase + 64] = 1;
        int base = kTangentBase;
        const auto add_binade = [&](const auto& segments) {
            add(base, segments, 26, 15, 10);
            base += 8;
        };
        add_binade(kTangent0);
        add_binade(kTangent1);
        add_binade(kTangent2);
        add_binade(kTangent3);
        add_binade(kTangent4);
        add_binade(kTangent5);
        add_binade(kTangent6);
        add_binade(kTangent7);
    }
};

inline constexpr Tables kTables;

}  // namespace lockstep::sass::mufu
