// SPDX-License-Identifier: Apache-2.0
// Decoding of Tensor Core instructions: multiply-adds by shape and type, and how long they hold the
// pipe. Shapes and types are fields of the instruction word.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/sass/semantics/tensor/warpgroup.h"
#include "isa/sass/table/op.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

using sass::Op;
using sass::Word;

void StaticTable::describe_tensor(StaticInstruction& in, const Word& word) const {
    TensorType type = TensorType::kFp16;
    double factor = 1;
    switch (sass::op_of(word)) {
        case Op::kHmma884:  // HMMA.884: one of 2 (F16) or 4 (F32) steps of an 8x8x4 product by quad
                            // pairs
            in.tensor_macs = 1024 / (word.bit(76) ? 4 : 2);
            in.arithmetic = Arithmetic::kHmma;
            break;
        case Op::kHmma:
        case Op::kHmmaSp: {  // HMMA
            const bool is_tf32 = word.bits(82, 2) >= 2;
            if (word.bit(76)) factor = parameters_.fp32_accumulate_factor;
            if (is_tf32) type = TensorType::kTf32;
            in.tensor_macs = 16 * 8 * (word.bit(75) ? 16 : word.bit(78) ? 4 : 8);
            in.arithmetic = Arithmetic::kHmma;
            break;
        }
        case Op::kImma: {  // IMMA: shape by bits 86, 85, 75; 4-bit types by 77, 79
            const bool is_int4 = word.bit(77) || word.bit(79);
            const unsigned shape =
                static_cast<unsigned>(word.bits(85, 2)) << 1 | static_cast<unsigned>(word.bit(75));
            constexpr unsigned kMacs[] = {8 * 8 * 16,  8 * 8 * 16,  8 * 8 * 32,  8 * 8 * 64,
                                          16 * 8 * 16, 16 * 8 * 32, 16 * 8 * 64, 16 * 8 * 128};
            in.tensor_macs = kMacs[shape];
            type = is_int4 ? TensorType::kInt4 : TensorType::kInt8;
            in.arithmetic = Arithmetic::kImma;
            break;
        }
        case Op::kBmma: {  // BMMA
            constexpr unsigned kMacs[] = {8 * 8 * 128, 16 * 8 * 128, 16 * 8 * 256, 16 * 8 * 256};
            in.tensor_macs = kMacs[word.bits(75, 2)];
            type = TensorType::kB1;
            in.arithmetic = Arithmetic::kBmma;
            break;
        }
        case Op::kDmma: {  // DMMA
            constexpr unsigned kMacs[] = {8 * 8 * 4, 16 * 8 * 4, 16 * 8 * 8, 16 * 8 * 16};
            in.tensor_macs = kMacs[word.bits(76, 2)];
            type = TensorType::kFp64;
            in.kind = InstructionKind::kVariable;
            in.latency = static_cast<std::uint16_t>(parameters_.dmma_latency);
            in.arithmetic = Arithmetic::kDmma;
            break;
        }
        case Op::kQmma:  // QMMA: 16x8x32 or 16x8x16 of 8-bit floats, at the rate of bytes
            if (word.bit(77)) factor = parameters_.fp32_accumulate_factor;
            in.tensor_macs = 16 * 8 * (word.bit(75) ? 32 : 16);
            type = TensorType::kInt8;
            in.arithmetic = Arithmetic::kHmma;
            break;
        default:  // MOVM and what is not executed
            in.operation = OperationClass::kSpecialRegister;
            return;
    }
    const double macs = parameters_.tensor_macs[static_cast<unsigned>(type)];
    in.interval =
        static_cast<std::uint16_t>(std::clamp(std::ceil(in.tensor_macs * factor / macs - 1e-6), 1.0,
                                              double{std::numeric_limits<std::uint16_t>::max()}));
}

void StaticTable::describe_warpgroup(StaticInstruction& in, const Word& word) const {
    constexpr unsigned kRows = 64, kSliceColumns = 8, kKBytes = 32, kNoGroup = 7;
    constexpr unsigned kWavefront = 128;  // bytes
    TensorType type = TensorType::kInt8;  // fp8 is as fast
    unsigned depth = kKBytes;
    switch (sass::op_of(word)) {
        case Op::kHgmma:
            type = word.bits(76, 2) == 2 ? TensorType::kTf32 : TensorType::kFp16;
            depth = type == TensorType::kTf32 ? kKBytes / 4 : kKBytes / 2;
            break;
        case Op::kIgmma:
        case Op::kQgmma:
            break;
        case Op::kBgmma:
            type = TensorType::kB1;
            depth = kKBytes * 8;
            break;
        default:  // WARPGROUP
            in.operation = OperationClass::kDispatch;
            if (!word.bit(80)) return;  // not .DEPBAR
            in.kind = InstructionKind::kWarpgroupWait;
            in.limit = static_cast<std::uint8_t>(word.bits(72, 3));
            return;
    }
    const bool a_in_registers = word.form() == 6, is_sparse = word.bit(73);
    const unsigned columns = sass::warpgroup_columns(word);
    const double macs = parameters_.warpgroup_macs[static_cast<unsigned>(type)];
    if (columns == 0 || macs == 0) return;  // not executed
    in.kind = InstructionKind::kWarpgroupProduct;
    in.arithmetic = Arithmetic::kGmma;
    in.tensor_macs = kRows / WarpgroupUnit::kWarps * columns * depth;  // kept ones of a sparse A
    in.interval =
        a_in_registers ? parameters_.warpgroup_issue_registers : parameters_.warpgroup_issue_shared;
    const auto byte = [](unsigned value) { return static_cast<std::uint8_t>(value); };
    const unsigned b_bytes = kSliceColumns * kKBytes * (is_sparse ? 2 : 1);
    in.product = {.slices = byte(columns / kSliceColumns),
                  .a_wavefronts = byte(a_in_registers ? 0 : kRows * kKBytes / kWavefront),
                  .b_wavefronts = byte(b_bytes / kWavefront),
                  .closes_group = word.bits(84, 3) != kNoGroup,
                  .cycles = static_cast<std::uint16_t>(std::ceil(in.tensor_macs / macs - 1e-6)),
                  .latency = static_cast<std::uint16_t>(
                      a_in_registers ? parameters_.warpgroup_latency_registers
                                     : parameters_.warpgroup_latency_shared)};
}

}  // namespace lockstep::gpu
