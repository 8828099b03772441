// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/semantics/winograd.h"

namespace lockstep::npu {

void transform_weights(const std::int16_t* weights, std::uint64_t plane,
                       std::vector<std::int16_t> (&into)[kWinogradPositions]) {
    // Rows of 2G.
    constexpr int kG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    for (int y = 0; y < 4; ++y)
        for (int x = 0; x < 4; ++x) {
            std::vector<std::int16_t>& out = into[4 * y + x];
            out.assign(plane, 0);
            for (int ky = 0; ky < 3; ++ky)
                for (int kx = 0; kx < 3; ++kx) {
                    const int factor = kG[y][ky] * kG[x][kx];
                    if (factor == 0) continue;
                    const std::int16_t* from = weights + std::uint64_t(3 * ky + kx) * plane;
                    for (std::uint64_t c = 0; c < plane; ++c)
                        out[c] = static_cast<std::int16_t>(out[c] + factor * from[c]);
                }
        }
}

void transform_inputs(const std::int16_t* const (&patch)[kWinogradPositions],
                      std::uint64_t channels, std::int16_t* const (&into)[kWinogradPositions]) {
    // B^T d B with B^T = [1 0 -1 0; 0 1 1 0; 0 -1 1 0; 0 1 0 -1].
    const auto lines = [](const int(&d)[4], int(&out)[4]) {
        out[0] = d[0] - d[2];
        out[1] = d[1] + d[2];
        out[2] = d[2] - d[1];
        out[3] = d[1] - d[3];
    };
    for (std::uint64_t c = 0; c < channels; ++c) {
        int half[4][4];
        for (int x = 0; x < 4; ++x) {
            const int column[4] = {patch[x][c], patch[4 + x][c], patch[8 + x][c], patch[12 + x][c]};
            int out[4];
            lines(column, out);
            for (int y = 0; y < 4; ++y) half[y][x] = out[y];
        }
        for (int y = 0; y < 4; ++y) {
            int out[4];
            lines(half[y], out);
            for (int x = 0; x < 4; ++x) into[4 * y + x][c] = static_cast<std::int16_t>(out[x]);
        }
    }
}

void transform_outputs(const std::uint32_t* const (&products)[kWinogradPositions],
                       std::uint64_t channels, std::int32_t* const (&outputs)[4]) {
    // A^T m A with A^T = [1 1 1 0; 0 1 -1 -1].
    for (std::uint64_t c = 0; c < channels; ++c) {
        std::uint32_t half[2][4];
        for (int x = 0; x < 4; ++x) {
            const std::uint32_t a = products[x][c], b = products[4 + x][c], d = products[8 + x][c],
                                e = products[12 + x][c];
            half[0][x] = a + b + d;
            half[1][x] = b - d - e;
        }
        for (int y = 0; y < 2; ++y) {
            const std::uint32_t* m = half[y];
            // Four times a sum that fits: the division is exact.
            const auto left = static_cast<std::int32_t>(m[0] + m[1] + m[2]) >> 2;
            const auto right = static_cast<std::int32_t>(m[1] - m[2] - m[3]) >> 2;
            outputs[2 * y][c] = static_cast<std::int32_t>(
                static_cast<std::uint32_t>(outputs[2 * y][c]) + static_cast<std::uint32_t>(left));
            outputs[2 * y + 1][c] =
                static_cast<std::int32_t>(static_cast<std::uint32_t>(outputs[2 * y + 1][c]) +
                                          static_cast<std::uint32_t>(right));
        }
    }
}

}  // namespace lockstep::npu
