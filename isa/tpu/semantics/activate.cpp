// SPDX-License-Identifier: Apache-2.0
// The activation pipeline: accumulators become outputs. The paper names the nonlinear functions and
// pooling; per-column bias and scale, and the addend (a residual connection), are how quantised
// networks need it.
#include <algorithm>
#include <cstring>

#include "isa/tpu/semantics/elements.h"
#include "isa/tpu/semantics/fixed_point.h"
#include "isa/tpu/semantics/functions.h"
#include "isa/tpu/semantics/handlers.h"

namespace lockstep::tpu {

namespace {

using enum Field;

class Activation {
  public:
    Activation(const Instruction& instruction, State& state)
        : i(instruction),
          state_(state),
          columns_(i[kColumns]),
          bias_bits_(columns_),
          scales_(columns_, i.float_value(kScale)),
          addend_(columns_),
          sums_(i.flag(kTransposed) ? columns_ : 0) {
        const std::uint8_t* parameters = state.unified_buffer(i[kParameters]);
        if (i.flag(kHasBias)) {
            std::memcpy(bias_bits_.data(), parameters, 4 * columns_);
            parameters += 4 * columns_;
        }
        if (is_fixed_point(i)) {
            std::vector<std::int32_t> words(2 * columns_);
            std::memcpy(words.data(), parameters, 8 * columns_);
            for (std::size_t c = 0; c < columns_; ++c)
                fixed_.push_back(checked_scale(words[c], words[columns_ + c]));
            return;
        }
        if (!i.flag(kHasScales)) return;
        std::vector<float> own(columns_);
        std::memcpy(own.data(), parameters, 4 * columns_);
        for (std::size_t c = 0; c < columns_; ++c) scales_[c] = scales_[c] * own[c];
    }

    /// Row `row` of the accumulators, after the function, in fp32 (fixed_point: stored integers).
    void compute(std::uint64_t row, float* out) {
        const std::uint32_t* acc = sums_of(row);
        if (is_fixed_point(i)) return compute_fixed_point(row, acc, out);
        if (i.type(kAccumulatorType) == DataType::kInt32)
            for (std::size_t c = 0; c < columns_; ++c)
                out[c] = static_cast<float>(static_cast<std::int32_t>(acc[c] + bias_bits_[c])) *
                         scales_[c];
        else
            for (std::size_t c = 0; c < columns_; ++c)
                out[c] = (std::bit_cast<float>(acc[c]) + std::bit_cast<float>(bias_bits_[c])) *
                         scales_[c];
        if (i.flag(kHasAddend)) {
            const Quantisation quantisation{i.float_value(kAddendScale),
                                            static_cast<std::int32_t>(i.signed_value(kAddendZero))};
            load_elements(state_.unified_buffer(i[kAddend] + row * i[kAddendPitch]),
                          i.type(kAddendType), columns_, quantisation, addend_.data());
            for (std::size_t c = 0; c < columns_; ++c) out[c] += addend_[c];
        }
        apply(i.as<Function>(kFunction), out, columns_);
    }

    void store(std::uint64_t row, const float* values) {
        const Quantisation quantisation{i.float_value(kOutScale),
                                        static_cast<std::int32_t>(i.signed_value(kZeroPoint))};
        store_elements(values, columns_, i.type(kType),
                       is_fixed_point(i) ? Quantisation{} : quantisation,
                       state_.unified_buffer(i[kDestination] + row * i[kPitch]));
    }

    void pool_all() {
        const std::uint64_t height = i[kHeight], width = i[kWidth], image = height * width;
        const std::uint64_t out_height =
            pooled(height, i[kPoolKernel], i[kPoolStride], i[kPoolPadTop] + i[kPoolPadBottom]);
        const std::uint64_t out_width =
            pooled(width, i[kPoolKernel], i[kPoolStride], i[kPoolPadLeft] + i[kPoolPadRight]);
        const bool max = i.as<PoolMode>(kPool) == PoolMode::kMax;
        std::vector<float> values(image * columns_), result(columns_);
        std::uint64_t out_row = 0;
        for (std::uint64_t n = 0; n < i[kRows] / image; ++n) {
            for (std::uint64_t pixel = 0; pixel < image; ++pixel)
                compute(n * image + pixel, values.data() + pixel * columns_);
            for (std::uint64_t oy = 0; oy < out_height; ++oy)
                for (std::uint64_t ox = 0; ox < out_width; ++ox) {
                    int count = 0;
                    for (std::uint64_t ky = 0; ky < i[kPoolKernel]; ++ky)
                        for (std::uint64_t kx = 0; kx < i[kPoolKernel]; ++kx) {
                            // Wraps to a large number above and on the left of the image.
                            const std::uint64_t y = oy * i[kPoolStride] + ky - i[kPoolPadTop];
                            const std::uint64_t x = ox * i[kPoolStride] + kx - i[kPoolPadLeft];
                            if (y >= height || x >= width) continue;
                            const float* in = values.data() + (y * width + x) * columns_;
                            if (count++ == 0) {
                                std::copy_n(in, columns_, result.begin());
                                continue;
                            }
                            apply(max ? Function::kMaximum : Function::kAdd, result.data(), in, 1,
                                  columns_);
                        }
                    if (!max && count != 0)
                        for (float& value : result) value /= static_cast<float>(count);
                    if (count == 0) std::fill(result.begin(), result.end(), 0.0f);
                    store(out_row++, result.data());
                }
        }
    }

  private:
    /// An input-stationary product leaves a column of results in a row of accumulators.
    const std::uint32_t* sums_of(std::uint64_t row) {
        if (!i.flag(kTransposed)) return state_.accumulators(i[kAccumulator] + row);
        for (std::size_t c = 0; c < columns_; ++c)
            sums_[c] = state_.accumulators(i[kAccumulator] + c)[row];
        return sums_.data();
    }

    void compute_fixed_point(std::uint64_t row, const std::uint32_t* acc, float* out) {
        const auto zero = static_cast<std::int32_t>(i.signed_value(kZeroPoint));
        const auto sum_zero = static_cast<std::int32_t>(i.signed_value(kSumZero));
        const bool adds = i.flag(kHasAddend);
        const numerics::IntegerRange range = range_of(i.type(kType));
        const numerics::FixedPointPair pair{static_cast<std::int32_t>(i.signed_value(kFirst)),
                                            static_cast<std::int32_t>(i.signed_value(kSecond)),
                                            static_cast<std::int32_t>(i[kShift])};
        const FixedPointTail tail(i, i.as<Function>(kFunction) == Function::kRelu,
                                  adds ? sum_zero : zero, state_);
        if (adds)
            load_elements(state_.unified_buffer(i[kAddend] + row * i[kAddendPitch]),
                          i.type(kAddendType), columns_,
                          {1, static_cast<std::int32_t>(i.signed_value(kAddendZero))},
                          addend_.data());
        for (std::size_t c = 0; c < columns_; ++c) {
            const auto sum = static_cast<std::int32_t>(acc[c] + bias_bits_[c]);
            std::int32_t value = numerics::requantise(sum, fixed_[c], zero, range);
            if (adds)
                value = numerics::saturate(
                    numerics::multiply(value - zero, static_cast<std::int32_t>(addend_[c]), pair) +
                        sum_zero,
                    range);
            out[c] = tail(value);
        }
    }

    const Instruction& i;
    State& state_;
    const std::size_t columns_;
    std::vector<std::uint32_t> bias_bits_;
    std::vector<float> scales_, addend_;
    std::vector<std::uint32_t> sums_;  // a row, where they lie transposed
    std::vector<numerics::FixedPointScale> fixed_;
};

}  // namespace

void execute_activate(const Instruction& i, State& state) {
    Activation activation(i, state);
    if (i.as<PoolMode>(kPool) != PoolMode::kNone) return activation.pool_all();
    std::vector<float> values(i[kColumns]);
    for (std::uint64_t row = 0; row < i[kRows]; ++row) {
        activation.compute(row, values.data());
        activation.store(row, values.data());
    }
}

}  // namespace lockstep::tpu
