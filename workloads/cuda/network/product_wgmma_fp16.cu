// SPDX-License-Identifier: Apache-2.0
#include "product_wgmma.cuh"

using namespace lockstep::kernels;

GROUP_KERNELS(product_wgmma_fp16, __half, float, __half)
