// SPDX-License-Identifier: Apache-2.0
// Pooling by itself, and images of another size.
#include <algorithm>
#include <cmath>
#include <cstring>

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

namespace {

/// Fixed-point steps of 1/1024 pixel of the input for one of the output, as TensorFlow Lite's
/// resize_bilinear for integers.
struct Axis {
    std::int64_t in, scale, offset;

    Axis(std::uint64_t in_size, std::uint64_t out_size, Interpolation mode)
        : in(static_cast<std::int64_t>(in_size)) {
        const auto out = static_cast<std::int64_t>(out_size);
        scale = ((in << 10) + out / 2) / out;
        if (mode == Interpolation::kBilinearCorners && out > 1)
            scale = (((in - 1) << 10) + (out - 1) / 2) / (out - 1);
        offset = mode == Interpolation::kBilinearHalfPixel ? scale / 2 - (1 << 9) : 0;
    }
    std::int64_t position(std::uint64_t at) const {
        return static_cast<std::int64_t>(at) * scale + offset;
    }
    std::int64_t low(std::int64_t position) const {
        return std::clamp<std::int64_t>(position / 1024, 0, in - 1);
    }
    std::int64_t high(std::int64_t position) const {
        return std::clamp<std::int64_t>((position + 1023) / 1024, 0, in - 1);
    }
};

std::int64_t nearest(std::uint64_t at, std::uint64_t in, std::uint64_t out, Interpolation mode) {
    const bool corners = mode == Interpolation::kNearestCorners && out > 1;
    const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                : static_cast<float>(in) / static_cast<float>(out);
    const float offset = mode == Interpolation::kNearestHalfPixel ? 0.5f : 0.0f;
    const float position = (static_cast<float>(at) + offset) * scale;
    const auto index =
        static_cast<std::int64_t>(corners ? std::round(position) : std::floor(position));
    return std::clamp<std::int64_t>(index, 0, static_cast<std::int64_t>(in) - 1);
}

}  // namespace

void execute_resize(const Instruction& i, State& state) {
    const auto mode = i.as<Interpolation>(kInterpolation);
    Pixels pixels(i, state, 0);
    Output output(i, state);
    const Axis rows(i[kHeight], i[kOutHeight], mode), columns(i[kWidth], i[kOutWidth], mode);
    const auto out_zero = static_cast<std::int32_t>(i.signed_value(kOutputZero));
    std::vector<std::int64_t> sums(i[kChannels]);
    std::vector<std::int32_t> values(i[kChannels]);
    const auto add = [&](std::int64_t y, std::int64_t x, std::int64_t factor) {
        const std::int32_t* from = pixels.at(y, x);
        for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += factor * from[c];
    };
    for (std::uint64_t y = 0; y < i[kOutHeight]; ++y)
        for (std::uint64_t x = 0; x < i[kOutWidth]; ++x) {
            if (mode < Interpolation::kBilinear) {
                const std::int32_t* from = pixels.at(nearest(y, i[kHeight], i[kOutHeight], mode),
                                                     nearest(x, i[kWidth], i[kOutWidth], mode));
                std::copy_n(from, values.size(), values.begin());
            } else {
                const std::int64_t py = rows.position(y), px = columns.position(x);
                const std::int64_t y0 = rows.low(py), y1 = rows.high(py), x0 = columns.low(px),
                                   x1 = columns.high(px);
                const std::int64_t fy = py - 1024 * y0, fx = px - 1024 * x0;
                std::fill(sums.begin(), sums.end(), 0);
                add(y0, x0, (1024 - fy) * (1024 - fx));
                add(y1, x0, fy * (1024 - fx));
                add(y0, x1, (1024 - fy) * fx);
                add(y1, x1, fy * fx);
                const bool once = i.as<Rounding>(kRounding) == Rounding::kUp;
                for (std::size_t c = 0; c < sums.size(); ++c)
                    values[c] = static_cast<std::int32_t>(numerics::shift_right(
                        sums[c], 20,
                        once ? numerics::IntegerRounding::kUp : numerics::IntegerRounding::kAway));
            }
            for (std::int32_t& value : values) value -= out_zero;
            output.put_results(y, x, values);
        }
    output.finish();
}

}  // namespace lockstep::npu
