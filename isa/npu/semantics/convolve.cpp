// SPDX-License-Identifier: Apache-2.0
// Convolutions and matrix products: windows become rows of centred integers, which are multiplied
// by the weights' matrix, some pixels at a time. The order of additions does not matter modulo
// 2^32.
#include <algorithm>
#include <cstring>

#include "isa/npu/semantics/handlers.h"
#include "isa/npu/semantics/sums.h"
#include "isa/npu/semantics/window_rows.h"
#include "isa/npu/semantics/winograd.h"
#include "sim/error/error.h"

namespace lockstep::npu {

namespace {

using enum Field;
using product::integer_pitch;

/// Pixels that are multiplied at once: what fits the host's caches, a multiple of the rows that its
/// products take.
constexpr std::uint64_t kPixels = 96;

std::uint32_t narrow(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

/// All pixels, whose rows `rows_of(pixel, count)` gives, by one matrix.
template <typename RowsOf>
void multiply(std::uint64_t pixels, std::uint64_t lanes, const product::IntegerWeights& weights,
              std::uint64_t channels, Sums& sums, const RowsOf& rows_of) {
    std::vector<std::int32_t> values(kPixels * channels);
    for (std::uint64_t first = 0; first < pixels; first += kPixels) {
        const std::uint64_t count = std::min(kPixels, pixels - first);
        product::integer_product(rows_of(first, count), narrow(count), narrow(lanes), weights,
                                 narrow(channels), false,
                                 reinterpret_cast<std::uint32_t*>(values.data()), narrow(channels));
        for (std::uint64_t p = 0; p < count; ++p) {
            sums.begin(first + p, values.data() + p * channels);
            sums.put(first + p, values.data() + p * channels);
        }
    }
}

void convolve_directly(const Instruction& i, State& state, Sums& sums) {
    const WeightMatrix& weights = state.weights(i);
    WindowRows windows(i, state);
    const std::uint64_t pixels = i[kOutHeight] * i[kOutWidth];
    multiply(pixels, weights.lanes(), weights.packed(), weights.outputs(), sums,
             [&](std::uint64_t first, std::uint64_t count) { return windows.rows(first, count); });
}

/// Each group of outputs sees only the lanes that have a weight other than zero for it.
void convolve_skipping(const Instruction& i, State& state, Sums& sums) {
    const WeightMatrix& weights = state.weights(i);
    WindowRows windows(i, state);
    const std::uint64_t pixels = i[kOutHeight] * i[kOutWidth], channels = weights.outputs();
    const std::uint64_t pitch = integer_pitch(narrow(weights.lanes()));
    std::vector<std::int32_t> values(kPixels * channels);
    std::vector<std::int16_t> used(kPixels * pitch);
    for (std::uint64_t first = 0; first < pixels; first += kPixels) {
        const std::uint64_t count = std::min(kPixels, pixels - first);
        const std::int16_t* rows = windows.rows(first, count);
        std::fill(values.begin(), values.end(), 0);
        for (const WeightMatrix::Group& group : weights.groups()) {
            if (group.lanes.empty()) continue;
            const std::uint32_t lanes = narrow(group.lanes.size()),
                                used_pitch = integer_pitch(lanes);
            for (std::uint64_t p = 0; p < count; ++p) {
                std::int16_t* to = used.data() + p * used_pitch;
                for (std::uint32_t lane = 0; lane < lanes; ++lane)
                    to[lane] = rows[p * pitch + group.lanes[lane]];
                if (lanes != used_pitch) to[lanes] = 0;
            }
            product::integer_product(
                used.data(), narrow(count), lanes, group.packed, group.outputs, false,
                reinterpret_cast<std::uint32_t*>(values.data()) + group.first_output,
                narrow(channels));
        }
        for (std::uint64_t p = 0; p < count; ++p) {
            sums.begin(first + p, values.data() + p * channels);
            sums.put(first + p, values.data() + p * channels);
        }
    }
}

/// Two rows of outputs: their patches of 2 x 2 side by side, some inputs at a time.
class WinogradRows {
  public:
    WinogradRows(const Instruction& i, State& state)
        : i_(i),
          weights_(state.weights(i)),
          image_(i, state),
          patches_((i[kOutWidth] + 1) / 2),
          sums_(2 * 2 * patches_ * weights_.outputs()) {
        for (auto& products : products_) products.resize(patches_ * weights_.outputs());
    }

    /// The sums of rows y and y + 1; that of pixel x of a row at sums()[(2 * patches * row + x) *
    /// outputs].
    std::int32_t* run(std::uint64_t y) {
        std::fill(sums_.begin(), sums_.end(), 0);
        // Sums of products are exact below 2^31.
        for (std::uint64_t first = 0; first < i_[kChannels]; first += kWinogradInputs) {
            const std::uint64_t inputs =
                std::min<std::uint64_t>(kWinogradInputs, i_[kChannels] - first);
            transform(y, first, inputs);
            const auto* weights =
                &weights_.winograd()[first / kWinogradInputs * kWinogradPositions];
            for (std::size_t p = 0; p < kWinogradPositions; ++p)
                product::integer_product(inputs_[p].data(), narrow(patches_), narrow(inputs),
                                         weights[p], narrow(weights_.outputs()), false,
                                         products_[p].data(), narrow(weights_.outputs()));
            add();
        }
        return sums_.data();
    }
    std::uint64_t pitch() const { return 2 * patches_ * weights_.outputs(); }

  private:
    void transform(std::uint64_t y, std::uint64_t first, std::uint64_t inputs) {
        const std::uint64_t pitch = integer_pitch(narrow(inputs));
        for (auto& position : inputs_) position.assign(patches_ * pitch, 0);
        for (std::uint64_t patch = 0; patch < patches_; ++patch) {
            const std::int16_t* pixels[kWinogradPositions];
            std::int16_t* into[kWinogradPositions];
            for (std::size_t p = 0; p < kWinogradPositions; ++p) {
                pixels[p] =
                    image_.pixel(static_cast<std::int64_t>(y + p / 4 - i_[kPadTop]),
                                 static_cast<std::int64_t>(2 * patch + p % 4 - i_[kPadLeft])) +
                    first;
                into[p] = inputs_[p].data() + patch * pitch;
            }
            transform_inputs(pixels, inputs, into);
        }
    }
    void add() {
        const std::uint64_t outputs = weights_.outputs();
        for (std::uint64_t patch = 0; patch < patches_; ++patch) {
            const std::uint32_t* from[kWinogradPositions];
            for (std::size_t p = 0; p < kWinogradPositions; ++p)
                from[p] = products_[p].data() + patch * outputs;
            std::int32_t* to[4];
            for (std::size_t o = 0; o < 4; ++o)
                to[o] = sums_.data() + o / 2 * pitch() + (2 * patch + o % 2) * outputs;
            transform_outputs(from, outputs, to);
        }
    }

    const Instruction& i_;
    const WeightMatrix& weights_;
    const CentredImage image_;
    const std::uint64_t patches_;
    std::vector<std::int16_t> inputs_[kWinogradPositions];
    std::vector<std::uint32_t> products_[kWinogradPositions];
    std::vector<std::int32_t> sums_;
};

void convolve_by_winograd(const Instruction& i, State& state, Sums& sums) {
    WinogradRows rows(i, state);
    const std::uint64_t height = i[kOutHeight], width = i[kOutWidth];
    for (std::uint64_t y = 0; y < height; y += 2) {
        std::int32_t* both = rows.run(y);
        for (std::uint64_t row = 0; row < std::min<std::uint64_t>(2, height - y); ++row)
            for (std::uint64_t x = 0; x < width; ++x) {
                std::int32_t* values = both + row * rows.pitch() + x * i[kOutChannels];
                sums.begin((y + row) * width + x, values);
                sums.put((y + row) * width + x, values);
            }
    }
}

}  // namespace

bool uses_winograd(const Instruction& i, const CoreLimits& limits) {
    return limits.winograd && i.opcode() == Opcode::kConvolve && i[kKernelHeight] == 3 &&
           i[kKernelWidth] == 3 && i[kStrideHeight] == 1 && i[kStrideWidth] == 1 &&
           i[kDilationHeight] == 1 && i[kDilationWidth] == 1 && i[kUpsampleHeight] <= 1 &&
           i[kUpsampleWidth] <= 1;
}

bool skips_zeros(const Instruction& i, const CoreLimits& limits) {
    return limits.zero_skipping && i.opcode() == Opcode::kConvolve && !uses_winograd(i, limits);
}

void execute_convolve(const Instruction& i, State& state) {
    Sums sums(i, state);
    if (uses_winograd(i, state.limits()))
        convolve_by_winograd(i, state, sums);
    else if (skips_zeros(i, state.limits()))
        convolve_skipping(i, state, sums);
    else
        convolve_directly(i, state, sums);
    sums.finish();
}

void execute_matrix_multiply(const Instruction& i, State& state) {
    const Image input = input_of(i), matrix = operand_of(i);
    const std::uint64_t lanes = input.channels, columns = i[kOutChannels];
    const bool transposed = i.flag(kTransposed);
    std::vector<std::int16_t> values(lanes * columns), row(matrix.channels);
    for (std::uint64_t r = 0; r < matrix.height; ++r) {
        unpack_narrow(state.sram(matrix.address + r * matrix.row), matrix.type, matrix.channels,
                      static_cast<std::int32_t>(i.signed_value(kOperandZero)), row.data());
        for (std::uint64_t c = 0; c < matrix.channels; ++c)
            values[transposed ? c * columns + r : r * columns + c] = row[c];
    }
    const product::IntegerWeights weights(values.data(), narrow(lanes), narrow(columns),
                                          narrow(columns));
    Sums sums(i, state);
    const std::uint64_t pitch = integer_pitch(narrow(lanes));
    std::vector<std::int16_t> rows(kPixels * pitch);
    multiply(input.height * input.width, lanes, weights, columns, sums,
             [&](std::uint64_t first, std::uint64_t count) {
                 for (std::uint64_t p = 0; p < count; ++p) {
                     const std::uint64_t pixel = first + p;
                     unpack_narrow(state.sram(input.address + pixel / input.width * input.row +
                                              pixel % input.width * input.pixel),
                                   input.type, lanes,
                                   static_cast<std::int32_t>(i.signed_value(kInputZero)),
                                   rows.data() + p * pitch);
                 }
                 return rows.data();
             });
    sums.finish();
}

}  // namespace lockstep::npu
