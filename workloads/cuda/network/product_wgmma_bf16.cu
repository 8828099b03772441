// SPDX-License-Identifier: Apache-2.0
#include "product_wgmma.cuh"

using namespace lockstep::kernels;

GROUP_KERNELS(product_wgmma_bf16, __nv_bfloat16, float, __nv_bfloat16)
