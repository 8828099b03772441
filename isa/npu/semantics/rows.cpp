// SPDX-License-Identifier: Apache-2.0
// What goes pixel by pixel: element by element, over the channels, softmax, local response.
#include <algorithm>
#include <array>
#include <cstring>

#include "isa/npu/semantics/handlers.h"
#include "isa/npu/semantics/output.h"
#include "sim/numerics/fixed_point.h"
#include "sim/numerics/local_response.h"

namespace lockstep::npu {

namespace {

using enum Field;

/// Calls put(y, x, values) for each pixel of the input, without its zero point.
template <typename Put>
void for_each_pixel(const Instruction& i, State& state, const Put& put) {
    const Image image = input_of(i);
    std::vector<std::int32_t> values(image.channels);
    for (std::uint64_t y = 0; y < image.height; ++y)
        for (std::uint64_t x = 0; x < image.width; ++x) {
            unpack(state.sram(image.address + y * image.row + x * image.pixel), image.type,
                   image.channels, static_cast<std::int32_t>(i.signed_value(kInputZero)),
                   values.data());
            put(y, x, std::span(values));
        }
}

std::int32_t join(std::span<const std::int32_t> values, Reduction reduction) {
    if (reduction == Reduction::kMax) return *std::max_element(values.begin(), values.end());
    if (reduction == Reduction::kMin) return *std::min_element(values.begin(), values.end());
    std::uint32_t sum = 0;
    for (const std::int32_t value : values) sum += static_cast<std::uint32_t>(value);
    return static_cast<std::int32_t>(sum);
}

}  // namespace

void execute_elementwise(const Instruction& i, State& state) {
    Output output(i, state);
    for_each_pixel(i, state, [&](std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values) {
        output.put_values(y, x, values);
    });
}

void execute_reduce(const Instruction& i, State& state) {
    Output output(i, state);
    for_each_pixel(i, state, [&](std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values) {
        std::int32_t joined = join(values, i.as<Reduction>(kReduction));
        output.put_values(y, x, {&joined, 1});
    });
}

void execute_softmax(const Instruction& i, State& state) {
    Output output(i, state);
    const numerics::SoftmaxScale scale{static_cast<std::int32_t>(i.signed_value(kMultiplier)),
                                       static_cast<std::int32_t>(i[kLeftShift]),
                                       static_cast<std::int32_t>(i.signed_value(kDifferenceMin))};
    const Image image = input_of(i);
    std::vector<std::int8_t> in(image.channels), out(image.channels);
    for_each_pixel(i, state, [&](std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values) {
        const auto* from = reinterpret_cast<const std::int8_t*>(
            state.sram(image.address + y * image.row + x * image.pixel));
        std::copy_n(from, in.size(), in.begin());
        numerics::softmax_row<std::int8_t>(in, out, scale);
        std::copy(out.begin(), out.end(), values.begin());
        for (std::int32_t& value : values)
            value -= static_cast<std::int32_t>(i.signed_value(kOutputZero));
        output.put_results(y, x, values);
    });
}

void execute_local_response(const Instruction& i, State& state) {
    Output output(i, state);
    std::array<std::uint16_t, numerics::kLocalResponseEntries> table;
    std::memcpy(table.data(), state.sram(i[kParameters]), sizeof(table));
    std::vector<std::int32_t> results(i[kChannels]);
    for_each_pixel(i, state, [&](std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values) {
        numerics::local_response_row(values, results, i[kBefore], i[kAfter], table);
        output.put_values(y, x, results);
    });
}

}  // namespace lockstep::npu
