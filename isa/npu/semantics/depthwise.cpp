// SPDX-License-Identifier: Apache-2.0
// Each output channel sees one channel of the input: channels side by side, tap by tap.
#include "isa/npu/semantics/handlers.h"
#include "isa/npu/semantics/sums.h"
#include "isa/npu/semantics/window_rows.h"

namespace lockstep::npu {

using enum Field;

void execute_depthwise(const Instruction& i, State& state) {
    const WeightMatrix& weights = state.weights(i);
    WindowRows windows(i, state);
    Sums sums(i, state);
    const std::uint64_t inputs = i[kChannels], outputs = i[kOutChannels],
                        multiplier = i[kDepthMultiplier], taps = weights.lanes();
    std::vector<std::uint32_t> values(outputs);  // wrap
    for (std::uint64_t pixel = 0; pixel < i[kOutHeight] * i[kOutWidth]; ++pixel) {
        const std::int16_t* row = windows.rows(pixel, 1);
        std::fill(values.begin(), values.end(), 0u);
        for (std::uint64_t tap = 0; tap < taps; ++tap) {
            const std::int16_t *x = row + tap * inputs, *w = weights.values() + tap * outputs;
            if (multiplier == 1)
                for (std::uint64_t c = 0; c < outputs; ++c)
                    values[c] += static_cast<std::uint32_t>(x[c] * w[c]);
            else
                for (std::uint64_t c = 0; c < outputs; ++c)
                    values[c] += static_cast<std::uint32_t>(x[c / multiplier] * w[c]);
        }
        auto* const signed_values = reinterpret_cast<std::int32_t*>(values.data());
        sums.begin(pixel, signed_values);
        sums.put(pixel, signed_values);
    }
    sums.finish();
}

}  // namespace lockstep::npu
