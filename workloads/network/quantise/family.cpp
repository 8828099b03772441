// SPDX-License-Identifier: Apache-2.0
// The operators that have integer kernels (reference/quantised.h).
#include "workloads/network/quantise/family.h"

namespace lockstep::network {

Family family_of(Operator op) {
    switch (op) {
        case Operator::kConv:
        case Operator::kGemm:
        case Operator::kMatMul:
            return Family::kProduct;
        case Operator::kAdd:
        case Operator::kAveragePool:
        case Operator::kConcat:
        case Operator::kGlobalAveragePool:
        case Operator::kMul:
        case Operator::kSub:
            return Family::kCombine;
        case Operator::kAbs:
        case Operator::kClip:
        case Operator::kElu:
        case Operator::kGelu:
        case Operator::kHardSigmoid:
        case Operator::kHardSwish:
        case Operator::kLeakyRelu:
        case Operator::kNeg:
        case Operator::kRelu:
        case Operator::kSigmoid:
        case Operator::kTanh:
            return Family::kActivate;
        case Operator::kExpand:
        case Operator::kFlatten:
        case Operator::kGather:
        case Operator::kIdentity:
        case Operator::kMaxPool:
        case Operator::kPad:
        case Operator::kReshape:
        case Operator::kSlice:
        case Operator::kSplit:
        case Operator::kSqueeze:
        case Operator::kTranspose:
        case Operator::kUnsqueeze:
            return Family::kMove;
        default:
            return Family::kNone;
    }
}

}  // namespace lockstep::network
