// SPDX-License-Identifier: Apache-2.0
// The dot-product unit of the Tensor Core, bit for bit as the silicon: columns of 16 results.
#pragma once

#include <cstdint>

#include "isa/sass/tensor_core/decoded_tile.h"
#include "isa/sass/tensor_core/rule.h"

namespace lockstep::sass {

/// c[row] += sum over k < depth of a[k * 16 + row] * b[k], for 16 rows. `depth` is 4, 8 or a
/// multiple of 16; it is cut into groups of rule.group (one, where it is less). Both tiles have
/// been decoded from `type`; `b_at` is the index in `b` of the column's first number. Accumulators
/// are fp32, or fp16 in the lower half of each word (the upper half of a result is zero).
void accumulate_column(const DotProductRule& rule, int depth, const DecodedTile& a,
                       const DecodedTile& b, int b_at, uint32_t* c);

/// The same for `columns` columns of B, [column][k]: c[column][row].
void accumulate_tile(const DotProductRule& rule, int depth, const DecodedTile& a,
                     const DecodedTile& b, int columns, uint32_t (*c)[16]);

/// The same with a column of B for each row (structured sparsity): b[b_at + k * 16 + row].
void accumulate_rows(const DotProductRule& rule, int depth, const DecodedTile& a,
                     const DecodedTile& b, int b_at, uint32_t* c);

}  // namespace lockstep::sass
