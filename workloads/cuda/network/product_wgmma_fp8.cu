// SPDX-License-Identifier: Apache-2.0
#include "product_wgmma.cuh"

using namespace lockstep::kernels;

GROUP_KERNELS(product_wgmma_fp8, ladder::E4m3, float, __half)
