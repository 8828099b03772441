// SPDX-License-Identifier: Apache-2.0
// Which kernel computes a product, with which tile and in how many pieces of k: the one that a
// model of the machine says is the fastest.
//
// The model, in cycles of the SMs. A CTA of a tile takes steps of k; a step takes as long as its
// multiply-adds at the SM's rate or the issue of its instructions (mma.sync waits for its sums, so
// a warp alone issues an instruction in almost five cycles), or as the next tile's way from memory
// where that is longer (there are `stages` on their way). CTAs share an SM as far as
// registers, shared memory and warps allow, and its rate. All pass in waves; the whole cannot be
// faster than DRAM brings each operand once and L2 brings each tile. Pieces of k add their partial
// sums in another kernel: a launch more, its code and parameters, instructions that wait for each
// other.
#pragma once

#include <string>

#include "workloads/cuda/network/arguments.h"
#include "workloads/network/gpu/lowering.h"

namespace lockstep::network::gpu {

struct ProductTraits {
    std::int64_t batches = 1;
    bool is_matrix = true;  ///< A is one, not an image with a window
    ElementType type = ElementType::kFp32, result = ElementType::kFp32;
    std::uint64_t macs = 0;
};

struct ProductChoice {
    cuda::KernelName kernel;
    kernels::TileShape tile{};
    int splits = 1, split_k = 0;
    bool is_rows = false;  ///< the kernel for a few rows
    std::uint32_t shared_bytes = 0;
    double cycles = 0;   ///< by the model
    std::string reason;  ///< for a person
};

ProductChoice choose_product(const Target& target, Precision precision, const kernels::Product& p,
                             const ProductTraits& traits);

/// Emits the chosen kernel, and the one that adds the pieces.
void launch_product(Lowering& l, kernels::Product p, const ProductTraits& traits);

}  // namespace lockstep::network::gpu
