// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/semantics/weight_matrix.h"

#include <algorithm>

#include "isa/npu/footprint.h"
#include "isa/npu/semantics/winograd.h"
#include "isa/npu/weights.h"
#include "sim/error/error.h"

namespace lockstep::npu {

namespace {

using enum Field;

std::vector<std::uint64_t> key_of(const Instruction& i) {
    return {i.number(),     i[kKernelHeight], i[kKernelWidth], i[kChannels],  i[kOutChannels],
            i[kWeightType], i[kWeightFormat], i[kWeightGroup], i[kWeightZero]};
}

product::IntegerWeights pack(const std::int16_t* values, std::uint64_t lanes,
                             std::uint64_t outputs) {
    return {values, static_cast<std::uint32_t>(lanes), static_cast<std::uint32_t>(outputs),
            static_cast<std::uint32_t>(outputs)};
}

}  // namespace

bool WeightMatrix::is_of(const Instruction& i, std::span<const std::uint8_t> stream) const {
    return !key_.empty() &&
           std::equal(stream.begin(), stream.end(), stream_.begin(), stream_.end()) &&
           key_ == key_of(i);
}

void WeightMatrix::decode(const Instruction& i, std::span<const std::uint8_t> stream) {
    *this = {};
    const std::uint64_t count = weights_of(i);
    DecodedWeights decoded =
        decode_weights(stream, i.type(kWeightType), i.as<WeightFormat>(kWeightFormat), count);
    if (!decoded.error.empty())
        throw ProgramFault(fmt::format("weights at {:#x} ({} bytes, {} values): {}", i[kWeights],
                                       stream.size(), count, decoded.error));
    outputs_ = i[kOutChannels];
    lanes_ = count / outputs_;
    inputs_ = i.opcode() == Opcode::kDepthwise ? 1 : i[kChannels];
    group_ = i[kWeightGroup];
    const auto zero = static_cast<std::int16_t>(i.signed_value(kWeightZero));
    if (zero != 0)
        for (std::int16_t& value : decoded.values) value = static_cast<std::int16_t>(value - zero);
    nonzero_ = count - static_cast<std::uint64_t>(
                           std::count(decoded.values.begin(), decoded.values.end(), 0));
    if (group_ >= outputs_) {
        values_ = std::move(decoded.values);
    } else {
        values_.resize(count);
        const std::int16_t* from = decoded.values.data();
        for (std::uint64_t first = 0; first < outputs_; first += group_) {
            const std::uint64_t size = std::min(group_, outputs_ - first);
            for (std::uint64_t lane = 0; lane < lanes_; ++lane, from += size)
                std::copy_n(from, size, values_.data() + lane * outputs_ + first);
        }
    }
    key_ = key_of(i);
    stream_.assign(stream.begin(), stream.end());
}

const product::IntegerWeights& WeightMatrix::packed() const {
    if (packed_.columns() == 0) packed_ = pack(values_.data(), lanes_, outputs_);
    return packed_;
}

const std::vector<WeightMatrix::Group>& WeightMatrix::groups() const {
    if (!groups_.empty()) return groups_;
    for (std::uint64_t first = 0; first < outputs_; first += group_) {
        const std::uint64_t size = std::min(group_, outputs_ - first);
        Group group{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(size), {}, {}};
        std::vector<std::int16_t> used;
        for (std::uint64_t lane = 0; lane < lanes_; ++lane) {
            const std::int16_t* row = values_.data() + lane * outputs_ + first;
            if (std::all_of(row, row + size, [](std::int16_t value) { return value == 0; }))
                continue;
            group.lanes.push_back(static_cast<std::uint32_t>(lane));
            used.insert(used.end(), row, row + size);
        }
        group.packed = pack(used.data(), group.lanes.size(), size);
        groups_.push_back(std::move(group));
    }
    return groups_;
}

std::vector<std::uint32_t> WeightMatrix::used_inputs() const {
    const std::uint64_t taps = lanes_ / inputs_;
    std::vector<std::uint32_t> used;
    for (const Group& group : groups()) {
        const std::size_t first = used.size();
        used.resize(first + taps);
        for (const std::uint32_t lane : group.lanes) ++used[first + lane / inputs_];
    }
    return used;
}

const std::vector<product::IntegerWeights>& WeightMatrix::winograd() const {
    if (!winograd_.empty()) return winograd_;
    std::vector<std::int16_t> transformed[kWinogradPositions];
    transform_weights(values_.data(), inputs_ * outputs_, transformed);
    for (std::uint64_t first = 0; first < inputs_; first += kWinogradInputs)
        for (const std::vector<std::int16_t>& position : transformed)
            winograd_.push_back(pack(position.data() + first * outputs_,
                                     std::min<std::uint64_t>(kWinogradInputs, inputs_ - first),
                                     outputs_));
    return winograd_;
}

}  // namespace lockstep::npu
