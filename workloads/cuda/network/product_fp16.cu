// SPDX-License-Identifier: Apache-2.0
#include "product_tensor.cuh"

using namespace lockstep::kernels;

TENSOR_KERNELS(product_fp16, Fp16Product)
