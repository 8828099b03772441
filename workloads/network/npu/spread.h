// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions again as one product.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// A convolution of an image that zeros were put into, stride - 1 after each row and column, as
/// decompose/ writes a ConvTranspose: as a convolution with `upsample` of the image itself. Shapes
/// must be inferred. Gives the number found; what only the zeros needed is left without readers.
int join_spread_convolutions(Graph& graph);

}  // namespace lockstep::network
