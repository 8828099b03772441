// SPDX-License-Identifier: Apache-2.0
// Width and fraction bits of each generation's dot-product unit. Found by testing silicon: Khattak
// and Mikaitis, MATLAB-tensor-core (V100, A100, L40S, H100, H200: reproduced bit for bit by our
// tests); sm_75 and the group width of tf32 on sm_90 from Microsoft MMA-Sim, without vectors of our
// own. sm_86 and sm_87 are taken to be sm_80's, sm_89 its successor except for fp8.
#include "isa/sass/tensor_core/rule.h"

#include "sim/error/error.h"

namespace lockstep::sass {

DotProductRule dot_product_rule(int sm, TensorType type, bool half) {
    const AccumulatorType accumulator = half ? AccumulatorType::kFp16 : AccumulatorType::kFp32;
    const bool fp8 = type == TensorType::kE4m3 || type == TensorType::kE5m2;
    if (fp8) {
        LOCKSTEP_CHECK(sm == 89 || sm == 90, "sm_{} has no fp8 Tensor Core", sm);
        return {sm == 89 ? 16 : 32, 13, sm == 89 ? -132 : -133,
                half ? AccumulatorType::kFp16 : AccumulatorType::kE8m13};
    }
    const bool tf32 = type == TensorType::kTf32;
    const bool since_volta = type == TensorType::kFp16;
    LOCKSTEP_CHECK(since_volta || sm >= 80, "sm_{} has no bf16 or tf32 Tensor Core", sm);
    if (sm == 70) return {4, 23, -132, accumulator};
    if (sm == 75) return {8, 24, -132, accumulator};
    if (sm >= 80 && sm <= 89) return {tf32 ? 4 : 8, 24, -132, accumulator};
    LOCKSTEP_CHECK(sm == 90, "the Tensor Core of sm_{} is not known", sm);
    return {tf32 ? 8 : 16, 25, -133, accumulator};
}

}  // namespace lockstep::sass
