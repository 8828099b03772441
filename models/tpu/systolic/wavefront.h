// SPDX-License-Identifier: Apache-2.0
// The array in closed form: the same cycles by formula, the same bits by whole rows.
#pragma once

#include "models/tpu/systolic/product.h"

namespace lockstep::tpu {

template <typename T>
ArrayResult<T> run_wavefront(const ArrayShape& array, Overlap overlap, const Operands<T>& operands);

extern template ArrayResult<std::int32_t> run_wavefront(const ArrayShape&, Overlap,
                                                        const Operands<std::int32_t>&);
extern template ArrayResult<float> run_wavefront(const ArrayShape&, Overlap,
                                                 const Operands<float>&);

}  // namespace lockstep::tpu
