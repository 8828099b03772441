// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/footprint.h"

#include "isa/npu/operands.h"
#include "sim/numerics/local_response.h"

namespace lockstep::npu {

namespace {

using enum Field;
constexpr std::uint64_t kTableEntries = 256;

void add_image(Footprint& footprint, const Image& image, bool write) {
    if (!image.empty()) footprint.add(Space::kSram, write, image.address, image.end());
}

void add_bytes(Footprint& footprint, std::uint64_t address, std::uint64_t bytes) {
    footprint.add(Space::kSram, false, address, address + bytes);
}

void add_common(Footprint& footprint, const Instruction& i) {
    if (i.as<TableAt>(kTableAt) != TableAt::kNone) add_bytes(footprint, i[kTable], kTableEntries);
    if (has_operand(i)) add_image(footprint, operand_of(i), false);
    if (!i.flag(kKeep)) add_image(footprint, output_of(i), true);
}

/// Rows in planes, as one range.
void add_planes(Footprint& footprint, Space space, bool write, std::uint64_t address,
                const Instruction& i, Field pitch, Field plane) {
    if (i[kRowBytes] == 0 || i[kRows] == 0 || i[kPlanes] == 0) return;
    footprint.add(space, write, address,
                  address + (i[kPlanes] - 1) * i[plane] + (i[kRows] - 1) * i[pitch] + i[kRowBytes]);
}

std::uint64_t pooled(std::uint64_t size, std::uint64_t kernel, std::uint64_t stride,
                     std::uint64_t pads) {
    return size + pads < kernel || stride == 0 ? 0 : (size + pads - kernel) / stride + 1;
}

bool pools_after(const Instruction& i) {
    return time_of(i.opcode()) == Time::kArray && i.as<PoolMode>(Field::kPool) != PoolMode::kNone;
}

}  // namespace

PoolPads pool_pads(const Instruction& i) {
    const std::uint64_t pads = i[kPoolPads];
    return {pads & 15, pads >> 4 & 15, pads >> 8 & 15, pads >> 12 & 15};
}

Image input_of(const Instruction& i) {
    return {i[kInput],    i.type(kInputType), i[kHeight],    i[kWidth],
            i[kChannels], i[kInputRow],       i[kInputPixel]};
}

Image result_of(const Instruction& i) {
    const Opcode opcode = i.opcode();
    const bool windows = has_field(opcode, kOutHeight);
    return {i[kOutput],
            i.type(kOutputType),
            i[windows ? kOutHeight : kHeight],
            i[windows ? kOutWidth : kWidth],
            opcode == Opcode::kReduce
                ? 1
                : i[has_field(opcode, kOutChannels) ? kOutChannels : kChannels],
            i[kOutputRow],
            i[kOutputPixel]};
}

Image output_of(const Instruction& i) {
    Image image = result_of(i);
    if (!pools_after(i)) return image;
    const PoolPads pads = pool_pads(i);
    image.height =
        pooled(image.height, i[kPoolHeight], i[kPoolStrideHeight], pads.top + pads.bottom);
    image.width = pooled(image.width, i[kPoolWidth], i[kPoolStrideWidth], pads.left + pads.right);
    return image;
}

bool has_operand(const Instruction& i) {
    return i.opcode() == Opcode::kMatrixMultiply || i.as<Combine>(kCombine) != Combine::kNone;
}

Image operand_of(const Instruction& i) {
    if (i.opcode() == Opcode::kMatrixMultiply) {
        const bool transposed = i.flag(kTransposed);
        return {i[kOperand],
                i.type(kOperandType),
                i[transposed ? kOutChannels : kChannels],
                1,
                i[transposed ? kChannels : kOutChannels],
                i[kOperandRow],
                0};
    }
    Image image = result_of(i);
    image.address = i[kOperand];
    image.type = i.type(kOperandType);
    image.row = i[kOperandRow];
    image.pixel = i[kOperandPixel];
    const auto broadcast = i.as<Broadcast>(kBroadcast);
    if (broadcast == Broadcast::kChannel || broadcast == Broadcast::kScalar)
        image.height = image.width = 1;
    if (broadcast == Broadcast::kPixel || broadcast == Broadcast::kScalar) image.channels = 1;
    return image;
}

std::uint64_t weights_of(const Instruction& i) {
    const std::uint64_t taps = i[kKernelHeight] * i[kKernelWidth] * i[kOutChannels];
    switch (i.opcode()) {
        case Opcode::kConvolve:
            return taps * i[kChannels];
        case Opcode::kDepthwise:
            return taps;
        default:
            return 0;
    }
}

std::uint64_t macs_of(const Instruction& i) {
    if (i.opcode() == Opcode::kMatrixMultiply)
        return i[kHeight] * i[kWidth] * i[kChannels] * i[kOutChannels];
    return weights_of(i) * i[kOutHeight] * i[kOutWidth];
}

std::uint64_t parameter_bytes(const Instruction& i) {
    if (i.opcode() == Opcode::kPool)
        return i.as<PoolMode>(Field::kPool) == PoolMode::kMean
                   ? 5 * i[kKernelHeight] * i[kKernelWidth]
                   : 0;
    if (i.opcode() == Opcode::kLocalResponse)
        return numerics::kLocalResponseEntries * sizeof(std::uint16_t);
    return i[kOutChannels] * (4 * i[kHasBias] + 5 * i[kPerChannel]);
}

void touch_transfer_in(const Instruction& i, Footprint& footprint) {
    const bool host = i.opcode() == Opcode::kReadHost;
    add_planes(footprint, host ? Space::kHost : Space::kMemory, false, i[host ? kHost : kMemory], i,
               kSourcePitch, kSourcePlane);
    add_planes(footprint, Space::kSram, true, i[kDestination], i, kDestinationPitch,
               kDestinationPlane);
}

void touch_transfer_out(const Instruction& i, Footprint& footprint) {
    const bool host = i.opcode() == Opcode::kWriteHost;
    add_planes(footprint, Space::kSram, false, i[kSource], i, kSourcePitch, kSourcePlane);
    add_planes(footprint, host ? Space::kHost : Space::kMemory, true, i[host ? kHost : kMemory], i,
               kDestinationPitch, kDestinationPlane);
}

void touch_convolve(const Instruction& i, Footprint& footprint) {
    add_image(footprint, input_of(i), false);
    add_bytes(footprint, i[kWeights], i[kWeightBytes]);
    add_bytes(footprint, i[kParameters], parameter_bytes(i));
    add_common(footprint, i);
}

void touch_matrix_multiply(const Instruction& i, Footprint& footprint) {
    add_image(footprint, input_of(i), false);
    add_bytes(footprint, i[kParameters], parameter_bytes(i));
    add_common(footprint, i);
}

void touch_elementwise(const Instruction& i, Footprint& footprint) {
    add_image(footprint, input_of(i), false);
    add_common(footprint, i);
}

void touch_pool(const Instruction& i, Footprint& footprint) {
    add_image(footprint, input_of(i), false);
    add_bytes(footprint, i[kParameters], parameter_bytes(i));
    add_common(footprint, i);
}

void touch_reduce(const Instruction& i, Footprint& footprint) {
    touch_elementwise(i, footprint);
}
void touch_softmax(const Instruction& i, Footprint& footprint) {
    touch_elementwise(i, footprint);
}
void touch_local_response(const Instruction& i, Footprint& footprint) {
    touch_pool(i, footprint);
}
void touch_resize(const Instruction& i, Footprint& footprint) {
    touch_elementwise(i, footprint);
}

void touch_copy(const Instruction& i, Footprint& footprint) {
    if (i.opcode() == Opcode::kCopy)
        add_planes(footprint, Space::kSram, false, i[kSource], i, kSourcePitch, kSourcePlane);
    add_planes(footprint, Space::kSram, true, i[kDestination], i, kDestinationPitch,
               kDestinationPlane);
}

}  // namespace lockstep::npu
