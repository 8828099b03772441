// SPDX-License-Identifier: Apache-2.0
// The output pipeline's stages in order, a pixel's channels at a time.
#include "isa/npu/semantics/output.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "isa/npu/semantics/average.h"
#include "sim/error/error.h"

namespace lockstep::npu {

namespace {

using enum Field;

std::int32_t to_int32(std::int64_t value) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
}

/// The fp32 value's integer, ties to even, saturated; of no number 0.
std::int32_t to_int32(float value) {
    if (value != value) return 0;
    constexpr float kMost = 2147483520.0f;  // the largest below 2^31
    return static_cast<std::int32_t>(std::nearbyint(std::clamp(value, -kMost, kMost)));
}

/// f(value, multiplier, shift) of each.
template <typename F>
void for_each(std::span<std::int32_t> values, const Scales& scales, const F& f) {
    if (scales.multipliers.size() == 1) {
        const std::int32_t multiplier = scales.multipliers[0], shift = scales.shifts[0];
        for (std::int32_t& value : values) value = f(value, multiplier, shift);
        return;
    }
    const std::int32_t *multipliers = scales.multipliers.data(), *shifts = scales.shifts.data();
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = f(values[i], multipliers[i], shifts[i]);
}

template <numerics::IntegerRounding rounding>
void rescale_integers(std::span<std::int32_t> values, const Scales& scales) {
    for_each(values, scales, [](std::int32_t value, std::int32_t multiplier, std::int32_t shift) {
        return to_int32(numerics::multiply(value, {multiplier, shift}, rounding));
    });
}

numerics::IntegerRounding integer_rounding(Rounding rounding) {
    return static_cast<numerics::IntegerRounding>(rounding);
}
static_assert(
    static_cast<int>(Rounding::kUp) == static_cast<int>(numerics::IntegerRounding::kUp) &&
    static_cast<int>(Rounding::kAway) == static_cast<int>(numerics::IntegerRounding::kAway) &&
    static_cast<int>(Rounding::kEven) == static_cast<int>(numerics::IntegerRounding::kEven) &&
    static_cast<int>(Rounding::kDouble) == static_cast<int>(numerics::IntegerRounding::kDouble));

Scales single(const Instruction& i, Field multiplier, Field shift) {
    return {{static_cast<std::int32_t>(i.signed_value(multiplier))},
            {static_cast<std::int32_t>(i[shift])}};
}

/// Multipliers and shifts of all channels, behind the biases.
Scales per_channel(const Instruction& i, const std::uint8_t* parameters) {
    const std::uint64_t channels = i[kOutChannels];
    Scales scales{std::vector<std::int32_t>(channels), std::vector<std::int32_t>(channels)};
    std::memcpy(scales.multipliers.data(), parameters, 4 * channels);
    for (std::uint64_t c = 0; c < channels; ++c) {
        const std::int32_t shift = parameters[4 * channels + c];
        if (i.as<Rounding>(kRounding) != Rounding::kFp32 && (shift < 1 || shift > 62))
            throw ProgramFault(
                fmt::format("a shift of {} for channel {} in the parameters (1 to 62)", shift, c));
        scales.shifts[c] = shift;
    }
    return scales;
}

bool is_sum(Combine combine) {
    return combine == Combine::kAdd || combine == Combine::kSubtract;
}

}  // namespace

void rescale(std::span<std::int32_t> values, const Scales& scales, Rounding rounding) {
    switch (rounding) {
        case Rounding::kUp:
            return rescale_integers<numerics::IntegerRounding::kUp>(values, scales);
        case Rounding::kAway:
            return rescale_integers<numerics::IntegerRounding::kAway>(values, scales);
        case Rounding::kEven:
            return rescale_integers<numerics::IntegerRounding::kEven>(values, scales);
        case Rounding::kDouble:
            return rescale_integers<numerics::IntegerRounding::kDouble>(values, scales);
        case Rounding::kFp32:
            return for_each(
                values, scales, [](std::int32_t value, std::int32_t multiplier, std::int32_t) {
                    return to_int32(static_cast<float>(value) * std::bit_cast<float>(multiplier));
                });
    }
}

Output::Output(const Instruction& i, State& state)
    : i_(i),
      state_(state),
      result_(result_of(i)),
      output_(output_of(i)),
      operand_(operand_of(i)),
      rounding_(i.as<Rounding>(kRounding)),
      range_(range_of(i.type(kOutputType))),
      pools_(time_of(i.opcode()) == Time::kArray &&
             i.as<PoolMode>(Field::kPool) != PoolMode::kNone),
      operand_values_(result_.channels),
      scratch_(result_.channels),
      scales_(single(i, kMultiplier, kShift)),
      result_scale_(single(i, kResultMultiplier, kResultShift)) {
    if (has_field(i.opcode(), kHasBias)) {
        const std::uint8_t* parameters = state.sram(i[kParameters]);
        biases_.resize(result_.channels);
        if (i.flag(kHasBias)) {
            std::memcpy(biases_.data(), parameters, 4 * result_.channels);
            parameters += 4 * result_.channels;
        }
        if (i.flag(kPerChannel) && !i.flag(kKeep)) scales_ = per_channel(i, parameters);
    }
    if (i.as<TableAt>(kTableAt) != TableAt::kNone) table_ = state.sram(i[kTable]);
    if (pools_) unpooled_.resize(result_.values());
}

void Output::put_sums(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> sums) {
    if (i_.type(kOutputType) == ElementType::kInt32) return store(y, x, sums);
    rescale(sums, scales_, rounding_);
    if (i_.as<Combine>(kCombine) == Combine::kNone) return put_results(y, x, sums);
    const auto zero = static_cast<std::int32_t>(i_.signed_value(kSumZero));
    const std::int64_t low = i_.signed_value(kSumLow), high = i_.signed_value(kSumHigh);
    for (std::int32_t& sum : sums)
        sum = static_cast<std::int32_t>(
            std::min(std::max(std::int64_t{sum} + zero, low), std::max(low, high)));
    if (i_.as<TableAt>(kTableAt) == TableAt::kSum) look_up(sums);
    for (std::int32_t& sum : sums) sum -= zero;
    combine(y, x, sums);
}

void Output::put_values(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values) {
    if (i_.as<Combine>(kCombine) != Combine::kNone) return combine(y, x, values);
    rescale(values, result_scale_, rounding_);
    put_results(y, x, values);
}

void Output::combine(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> a) {
    const std::uint64_t row = operand_.height == 1 ? 0 : y, pixel = operand_.width == 1 ? 0 : x;
    const std::uint8_t* from =
        state_.sram(operand_.address + row * operand_.row + pixel * operand_.pixel);
    const std::span<std::int32_t> b(operand_values_.data(), a.size());
    unpack(from, operand_.type, operand_.channels,
           static_cast<std::int32_t>(i_.signed_value(kOperandZero)), b.data());
    if (operand_.channels == 1) std::fill(b.begin() + 1, b.end(), b[0]);
    const auto combine = i_.as<Combine>(kCombine);
    if (is_sum(combine)) {
        add(a, b);
        return put_results(y, x, a);
    }
    for (std::size_t c = 0; c < a.size(); ++c) switch (combine) {
            case Combine::kMultiply:
                a[c] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a[c]) *
                                                 static_cast<std::uint32_t>(b[c]));
                break;
            case Combine::kMaximum:
                a[c] = std::max(a[c], b[c]);
                break;
            default:
                a[c] = std::min(a[c], b[c]);
                break;
        }
    rescale(a, result_scale_, rounding_);
    put_results(y, x, a);
}

void Output::add(std::span<std::int32_t> a, std::span<std::int32_t> b) {
    const auto wrap = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
    if (i_.as<Combine>(kCombine) == Combine::kSubtract)
        for (std::int32_t& value : b) value = wrap(0u - static_cast<std::uint32_t>(value));
    if (i_.as<Form>(kForm) == Form::kRescaled) {
        for (const auto& side : {a, b})
            for (std::int32_t& value : side)
                value = wrap(static_cast<std::uint32_t>(value) << i_[kLeftShift]);
        rescale(a, single(i_, kFirst, kFirstShift), rounding_);
        rescale(b, single(i_, kSecond, kSecondShift), rounding_);
        for (std::size_t c = 0; c < a.size(); ++c)
            a[c] = wrap(static_cast<std::uint32_t>(a[c]) + static_cast<std::uint32_t>(b[c]));
        return rescale(a, result_scale_, rounding_);
    }
    const auto first = static_cast<std::int32_t>(i_.signed_value(kFirst)),
               second = static_cast<std::int32_t>(i_.signed_value(kSecond));
    if (rounding_ == Rounding::kFp32) {
        const float of_a = std::bit_cast<float>(first), of_b = std::bit_cast<float>(second);
        for (std::size_t c = 0; c < a.size(); ++c) {
            const float x = static_cast<float>(a[c]) * of_a, y = static_cast<float>(b[c]) * of_b;
            a[c] = to_int32(x + y);
        }
        return;
    }
    // Operands of 32 bits: the sum of two products of 63 bits stays below 2^63 but for the lowest
    // int32 twice, which unsigned arithmetic lets wrap.
    for (std::size_t c = 0; c < a.size(); ++c) {
        const auto sum =
            static_cast<std::int64_t>(static_cast<std::uint64_t>(std::int64_t{a[c]} * first) +
                                      static_cast<std::uint64_t>(std::int64_t{b[c]} * second));
        a[c] = to_int32(numerics::shift_right(sum, static_cast<std::int32_t>(i_[kFirstShift]),
                                              integer_rounding(rounding_)));
    }
}

void Output::look_up(std::span<std::int32_t> values) const {
    for (std::int32_t& value : values) {
        const std::int32_t index = std::clamp(value, range_.low, range_.high) - range_.low;
        unpack(table_ + index, is_signed(output_.type) ? ElementType::kInt8 : ElementType::kUint8,
               1, 0, &value);
        value = std::clamp(value, range_.low, range_.high);
    }
}

void Output::put_results(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values) {
    const std::int64_t zero = i_.signed_value(kOutputZero);
    std::int64_t low = range_.low, high = range_.high;
    // Results of 32 bits have no narrower limits that the fields could hold.
    if (has_field(i_.opcode(), kLow) && bits_of(i_.type(kOutputType)) < 32) {
        low = std::max(low, std::min<std::int64_t>(i_.signed_value(kLow), high));
        high = std::min(high, std::max<std::int64_t>(i_.signed_value(kHigh), low));
    }
    for (std::int32_t& value : values)
        value = static_cast<std::int32_t>(std::clamp(value + zero, low, std::max(low, high)));
    if (i_.as<TableAt>(kTableAt) == TableAt::kResult) look_up(values);
    if (!pools_) return store(y, x, values);
    std::copy(values.begin(), values.end(),
              unpooled_.begin() +
                  static_cast<std::ptrdiff_t>((y * result_.width + x) * result_.channels));
}

void Output::store(std::uint64_t y, std::uint64_t x, std::span<const std::int32_t> values) {
    pack(values.data(), output_.type, values.size(),
         state_.sram(output_.address + y * output_.row + x * output_.pixel));
}

void Output::pool_pixel(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> into) const {
    const bool average = i_.as<PoolMode>(Field::kPool) == PoolMode::kAverage;
    const PoolPads pads = pool_pads(i_);
    std::int64_t count = 0;
    std::fill(into.begin(), into.end(), average ? 0 : range_.low);
    for (std::uint64_t ky = 0; ky < i_[kPoolHeight]; ++ky)
        for (std::uint64_t kx = 0; kx < i_[kPoolWidth]; ++kx) {
            // Below the padding these wrap around and are as large as unsigned numbers get.
            const std::uint64_t iy = y * i_[kPoolStrideHeight] + ky - pads.top,
                                ix = x * i_[kPoolStrideWidth] + kx - pads.left;
            if (iy >= result_.height || ix >= result_.width) continue;
            ++count;
            const std::int32_t* from =
                unpooled_.data() + (iy * result_.width + ix) * result_.channels;
            for (std::size_t c = 0; c < into.size(); ++c)
                into[c] = average ? into[c] + from[c] : std::max(into[c], from[c]);
        }
    if (average)
        for (std::int32_t& sum : into) sum = average_of(sum, count);
}

void Output::finish() {
    if (!pools_) return;
    const std::span<std::int32_t> values(scratch_.data(), result_.channels);
    for (std::uint64_t y = 0; y < output_.height; ++y)
        for (std::uint64_t x = 0; x < output_.width; ++x) {
            pool_pixel(y, x, values);
            store(y, x, values);
        }
}

}  // namespace lockstep::npu
