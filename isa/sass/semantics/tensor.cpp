// SPDX-License-Identifier: Apache-2.0
// Matrix multiply-accumulate by a warp: which opcode is bound where.
#include "isa/sass/semantics/tensor/tensor.h"

#include "isa/sass/semantics/tensor/warpgroup.h"

namespace lockstep::sass {

namespace {

constexpr BindEntry kEntries[] = {
    {0x036, bind_hmma884, 70, 75}, {0x037, bind_imma, 75, 90},  {0x03a, bind_movm, 75, 90},
    {0x03c, bind_hmma, 75, 90},    {0x03d, bind_bmma, 75, 90},  {0x03f, bind_dmma, 80, 90},
    {0x07a, bind_qmma, 89, 89},    {0x1f0, bind_hgmma, 90, 90}, {0x1f1, bind_igmma, 90, 90},
    {0x1f2, bind_bgmma, 90, 90},   {0x1f3, bind_qgmma, 90, 90}, {0x1c5, bind_warpgroup, 90, 90},
};

}  // namespace

std::span<const BindEntry> tensor_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
