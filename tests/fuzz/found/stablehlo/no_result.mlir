// SPDX-License-Identifier: Apache-2.0
// Causal attention of four heads over 32 tokens, as it is printed: softmax in its parts.
module @jit_attention {
  func.func public @main(%arg0: tensor<1x4x32x16xf32>, %arg1: tensor<1x4x32x16xf32>, %arg2: tensor<1x4x32x16xf32>) -> tensor<1x4x32x16xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<1x4x32x16xf32>, tensor<1x4x32x16xf32>) -> tensor<1x4x32x32xf32>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1x4x32x32xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<1x4x32x32xf32>
    %3 = stablehlo.iota dim = 2 : tensor<1x4x32x32xi32>
    %4 = stablehlo.iota dim = 3 : tensor<1x4x32x32xi32>
    %5 = stablehlo.compare GE, %3, %4, SIGNED : (tensor<1x4x32x32xi32>, tensor<1x4x32x32xi32>) -> tensor<1x4x32x32xi1>
    %cst_0 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x4x32x32xf32>
    %7 = stablehlo.select %5, %2, %6 : tensor<1x4x32x32xi1>, tensor<1x4x32x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.maximum across dimensions = [3] : (tensor<1x4x32x32xf32>, tensor<f32>) -> tensor<1x4x32xf32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x4x32xf32>
    %10 = stablehlo.maximum %9, %8 : tensor<1x4x32xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1, 2] : (tensor<1x4x32xf32>) -> tensor<1x4x32x1xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] }
}
