// SPDX-License-Identifier: Apache-2.0
#include "isa/tpu/footprint.h"

namespace lockstep::tpu {

using enum Field;

std::uint64_t activate_output_rows(const Instruction& i) {
    if (i.as<PoolMode>(Field::kPool) == PoolMode::kNone) return i[kRows];
    const std::uint64_t image = i[kHeight] * i[kWidth];
    if (image == 0) return 0;
    return i[kRows] / image *
           pooled(i[kHeight], i[kPoolKernel], i[kPoolStride], i[kPoolPadTop] + i[kPoolPadBottom]) *
           pooled(i[kWidth], i[kPoolKernel], i[kPoolStride], i[kPoolPadLeft] + i[kPoolPadRight]);
}

bool slides(const Instruction& i) {
    return i.opcode() == Opcode::kConvolve &&
           !(i[kKernelHeight] == 1 && i[kKernelWidth] == 1 && i[kStrideHeight] == 1 &&
             i[kStrideWidth] == 1 && i[kPadTop] == 0 && i[kPadLeft] == 0);
}

WindowRows window_rows(const Instruction& i) {
    return {i[kSource], i[kFirstRow], i[kFirstLane], i[kRows], i[kLanes], i[kPadTop], i[kHeight]};
}

}  // namespace lockstep::tpu
