// SPDX-License-Identifier: Apache-2.0
// What the compiler's model of time must know of the kernels beside their shapes: how many
// instructions they execute, which a test holds to emulated runs of the compiled kernels, and how
// fast.
#pragma once

namespace lockstep::kernels {

/// Instructions of a warp in a step of k, products and copies included, both operands being brought
/// 16 bytes at a time, as compiled for Turing, which copies through registers, and for later ones.
struct StepInstructions {
    double turing = 0, later = 0;
    constexpr double of(int arch) const { return arch < 80 ? turing : later; }
};
constexpr StepInstructions kLargeTensorStep = {272, 181}, kSmallTensorStep = {225, 162};
/// TF32 rounds its operands.
constexpr StepInstructions kLargeTf32Step = {0, 279}, kSmallTf32Step = {0, 227};
constexpr StepInstructions kLargeRealStep = {664, 662}, kSmallRealStep = {719, 721};
/// product_wgmma_*.
constexpr StepInstructions kWideGroupStep = {0, 306}, kGroupStep = {0, 261},
                           kSmallGroupStep = {0, 272};

/// Cycles to an instruction's successor where a warp has its sub-core alone, in steps of products
/// on Tensor Cores: from the slope over k in cycle mode on a100 of a 3x3 convolution of ResNet-18,
/// k of 288 and 1152 (4.7), and of a product of 64x64 with k of 64 and 256 (5.0).
constexpr double kTensorIssueCycles = 4.7;

/// product_sum: of a warp, and for each piece of k.
constexpr double kSumInstructions = 163, kPieceInstructions = 17;

/// attention_*: of a thread for each of its scores beside the products, copies included, with two
/// warps: on Tensor Cores (all but HMMA) and on CUDA cores (all but FFMA).
constexpr double kTensorAttentionInstructions = 30, kRealAttentionInstructions = 115;

}  // namespace lockstep::kernels
