// SPDX-License-Identifier: Apache-2.0
#include "attention_tensor.cuh"

using namespace lockstep::kernels;

ATTENTION_KERNELS(attention_bf16, Bf16Product)
