// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/weight_streams.h"

#include "isa/npu/weights.h"
#include "sim/numerics/integer.h"
#include "workloads/network/npu/plan.h"

namespace lockstep::network::npu_code {

namespace {

void append(std::vector<std::uint8_t>& bytes, std::int32_t value) {
    for (int byte = 0; byte < 4; ++byte)
        bytes.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
}

}  // namespace

WeightStreams weight_streams(const Step& step, const NpuTarget& target, std::int64_t first,
                             std::int64_t channels, bool by_core, InputSlice slice) {
    WeightStreams result;
    const std::int64_t outputs = step.output_channels();
    const auto all = static_cast<std::int64_t>(step.weight_count) / outputs;
    const std::int64_t taps = step.window.height * step.window.width;
    const std::int64_t each = slice.count == 0 ? all : taps * slice.count;
    std::int64_t size = step.groups > 1 ? outputs / step.groups : channels;
    // The channels that one input channel gives stay together.
    const bool multiplies = step.opcode == isa::Opcode::kDepthwise && outputs != step.input.box.c;
    if (by_core && step.groups == 1 && !multiplies) {
        const std::int64_t unit = target.array_outputs;
        size =
            numerics::divide_up(numerics::divide_up(channels, unit), std::int64_t{target.cores}) *
            unit;
    }
    std::vector<std::uint8_t>& bytes = result.bytes;
    for (std::int64_t k = first; k < first + channels; k += size) {
        WeightPart part{
            k, std::min(size, first + channels - k), bytes.size(), 0, 0, isa::WeightFormat::kRaw};
        const auto count = static_cast<std::uint64_t>(part.count * each);
        result.raw_bytes += isa::packed_bytes(count, step.weight_type);
        if (step.weights.empty()) {
            part.stream_bytes =
                stored_stream(step, target, isa::packed_bytes(count, step.weight_type));
            bytes.resize(bytes.size() + part.stream_bytes, 0);
        } else {
            std::span<const std::int16_t> values(step.weights.data() + k * all,
                                                 static_cast<std::size_t>(count));
            std::vector<std::int16_t> some;
            if (slice.count != 0) {
                for (std::int64_t row = k * taps; row < (k + part.count) * taps; ++row) {
                    const auto from = step.weights.begin() + row * (all / taps) + slice.first;
                    some.insert(some.end(), from, from + slice.count);
                }
                values = some;
            }
            const std::vector<std::int16_t> ordered = isa::order_weights(
                values, static_cast<std::uint64_t>(part.count), static_cast<std::uint64_t>(taps),
                static_cast<std::uint64_t>(each / taps), target.array_outputs);
            std::vector<std::uint8_t> stream;
            if (target.compresses_weights)
                std::tie(part.format, stream) = isa::compress_weights(ordered, step.weight_type);
            else
                stream = *isa::encode_weights(ordered, step.weight_type, isa::WeightFormat::kRaw);
            stream.resize(stored_stream(step, target, stream.size()), 0);
            part.stream_bytes = stream.size();
            bytes.insert(bytes.end(), stream.begin(), stream.end());
        }
        bytes.resize(numerics::round_up(bytes.size(), std::size_t{16}), 0);
        part.parameters = bytes.size();
        const auto begin = static_cast<std::size_t>(k),
                   end = begin + static_cast<std::size_t>(part.count);
        for (std::size_t c = begin; c < end && !step.bias.empty(); ++c) append(bytes, step.bias[c]);
        if (step.scales.size() > 1) {
            for (std::size_t c = begin; c < end; ++c) append(bytes, step.scales[c].multiplier);
            for (std::size_t c = begin; c < end; ++c)
                bytes.push_back(static_cast<std::uint8_t>(step.scales[c].shift));
        }
        bytes.resize(numerics::round_up(bytes.size(), std::size_t{16}), 0);
        result.parts.push_back(part);
    }
    return result;
}

}  // namespace lockstep::network::npu_code
