// SPDX-License-Identifier: Apache-2.0
// The array register by register, cycle by cycle, in flat arrays.
#pragma once

#include "models/tpu/systolic/product.h"

namespace lockstep::tpu {

template <typename T>
ArrayResult<T> run_registers(const ArrayShape& array, Overlap overlap, const Operands<T>& operands);

extern template ArrayResult<std::int32_t> run_registers(const ArrayShape&, Overlap,
                                                        const Operands<std::int32_t>&);
extern template ArrayResult<float> run_registers(const ArrayShape&, Overlap,
                                                 const Operands<float>&);

}  // namespace lockstep::tpu
