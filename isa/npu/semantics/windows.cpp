// SPDX-License-Identifier: Apache-2.0
// Pooling by itself, and images of another size.
#include <algorithm>
#include <cstring>

#include "isa/npu/operands.h"
#include "isa/npu/semantics/average.h"
#include "isa/npu/semantics/handlers.h"
#include "isa/npu/semantics/output.h"
#include "sim/error/error.h"

namespace lockstep::npu {

namespace {

using enum Field;

/// Values of the pixels of an image, one at a time.
class Pixels {
  public:
    Pixels(const Instruction& i, State& state, std::int32_t zero)
        : image_(input_of(i)), state_(state), zero_(zero), values_(image_.channels) {}

    bool has(std::int64_t y, std::int64_t x) const {
        return y >= 0 && x >= 0 && y < static_cast<std::int64_t>(image_.height) &&
               x < static_cast<std::int64_t>(image_.width);
    }
    const std::int32_t* at(std::int64_t y, std::int64_t x) {
        unpack(state_.sram(image_.address + static_cast<std::uint64_t>(y) * image_.row +
                           static_cast<std::uint64_t>(x) * image_.pixel),
               image_.type, image_.channels, zero_, values_.data());
        return values_.data();
    }

  private:
    const Image image_;
    State& state_;
    const std::int32_t zero_;
    std::vector<std::int32_t> values_;
};

/// Of each count of pixels from 1 on.
std::vector<Scales> mean_scales(const Instruction& i, State& state) {
    const std::uint64_t counts = i[kKernelHeight] * i[kKernelWidth];
    std::vector<Scales> scales;
    const std::uint8_t* parameters = state.sram(i[kParameters]);
    for (std::uint64_t n = 0; n < counts; ++n) {
        std::int32_t multiplier;
        std::memcpy(&multiplier, parameters + 4 * n, 4);
        const std::int32_t shift = parameters[4 * counts + n];
        if (i.as<Rounding>(kRounding) != Rounding::kFp32 && (shift < 1 || shift > 62))
            throw ProgramFault(fmt::format(
                "a shift of {} for {} pixels in the parameters (1 to 62)", shift, n + 1));
        scales.push_back({{multiplier}, {shift}});
    }
    return scales;
}

}  // namespace

void execute_pool(const Instruction& i, State& state) {
    const auto mode = i.as<PoolMode>(Field::kPool);
    const bool mean = mode == PoolMode::kMean, max = mode == PoolMode::kMax;
    Output output(i, state);
    // A maximum and an average keep the scale: their values pass with the zero point in them.
    const auto zero = static_cast<std::int32_t>(i.signed_value(kInputZero)),
               out_zero = static_cast<std::int32_t>(i.signed_value(kOutputZero));
    Pixels pixels(i, state, mean ? zero : 0);
    const std::vector<Scales> scales = mean ? mean_scales(i, state) : std::vector<Scales>();
    const std::int32_t least = range_of(i.type(kInputType)).low;
    std::vector<std::int64_t> sums(i[kChannels]);
    std::vector<std::int32_t> values(i[kChannels]);
    for (std::uint64_t y = 0; y < i[kOutHeight]; ++y)
        for (std::uint64_t x = 0; x < i[kOutWidth]; ++x) {
            std::int64_t count = 0;
            std::fill(sums.begin(), sums.end(), max ? least : 0);
            for (std::uint64_t ky = 0; ky < i[kKernelHeight]; ++ky)
                for (std::uint64_t kx = 0; kx < i[kKernelWidth]; ++kx) {
                    const auto iy = static_cast<std::int64_t>(y * i[kStrideHeight] + ky -
                                                              i[kPadTop]),
                               ix = static_cast<std::int64_t>(x * i[kStrideWidth] + kx -
                                                              i[kPadLeft]);
                    if (!pixels.has(iy, ix)) continue;
                    ++count;
                    const std::int32_t* from = pixels.at(iy, ix);
                    for (std::size_t c = 0; c < sums.size(); ++c)
                        sums[c] =
                            max ? std::max<std::int64_t>(sums[c], from[c]) : sums[c] + from[c];
                }
            for (std::size_t c = 0; c < sums.size(); ++c)
                values[c] = max    ? static_cast<std::int32_t>(sums[c]) - out_zero
                            : mean ? static_cast<std::int32_t>(sums[c])
                                   : average_of(sums[c], count) - out_zero;
            if (mean && count != 0)
                rescale(values, scales[static_cast<std::size_t>(count - 1)],
                        i.as<Rounding>(kRounding));
            output.put_results(y, x, values);
        }
    output.finish();
}

void execute_resize(const Instruction& i, State& state) {
    Pixels pixels(i, state, 0);
    Output output(i, state);
    const numerics::ResizeAxis rows = resize_rows(i), columns = resize_columns(i);
    const auto first = static_cast<std::int64_t>(i[kInputFirst]);
    const auto out_zero = static_cast<std::int32_t>(i.signed_value(kOutputZero));
    const auto rounding = i.as<Rounding>(kRounding) == Rounding::kUp
                              ? numerics::IntegerRounding::kUp
                              : numerics::IntegerRounding::kAway;
    constexpr std::int64_t kOne = numerics::ResizeAxis::kOne;
    std::vector<std::int64_t> sums(i[kChannels]);
    std::vector<std::int32_t> values(i[kChannels]);
    const auto add = [&](std::int64_t y, std::int64_t x, std::int64_t factor) {
        if (factor == 0) return;
        const std::int32_t* from = pixels.at(y - first, x);
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += factor * from[c];
    };
    for (std::uint64_t y = 0; y < i[kOutHeight]; ++y)
        for (std::uint64_t x = 0; x < i[kOutWidth]; ++x) {
            const auto row = rows.at(static_cast<std::int64_t>(y + i[kResultFirst])),
                       column = columns.at(static_cast<std::int64_t>(x));
            std::fill(sums.begin(), sums.end(), 0);
            add(row.low, column.low, (kOne - row.fraction) * (kOne - column.fraction));
            add(row.high, column.low, row.fraction * (kOne - column.fraction));
            add(row.low, column.high, (kOne - row.fraction) * column.fraction);
            add(row.high, column.high, row.fraction * column.fraction);
            for (std::size_t c = 0; c < sums.size(); ++c)
                values[c] = static_cast<std::int32_t>(numerics::shift_right(
                                sums[c], 2 * numerics::ResizeAxis::kBits, rounding)) -
                            out_zero;
            output.put_results(y, x, values);
        }
    output.finish();
}

}  // namespace lockstep::npu
