// SPDX-License-Identifier: Apache-2.0
// The classes follow the pipe column of the instruction table and, where a pipe executes several
// kinds of operations at different rates, the opcode. Rates: CUDA C Programming Guide, throughput
// of native arithmetic instructions.
#include "models/gpu/sm/operation_class.h"

namespace lockstep::gpu {

using sass::Op;

namespace {

bool is_integer_multiply(Op op) {
    return op == Op::kImad || op == Op::kIdp;
}

bool is_wide_multiply(Op op) {
    return op == Op::kImadWide || op == Op::kImadHi;
}

OperationClass class_of_variable(Op op) {
    switch (op) {
        case Op::kMufu:
            return OperationClass::kMufu;
        case Op::kFlo:
        case Op::kBrev:
        case Op::kPopc:
            return OperationClass::kBitCount;
        case Op::kF2f:
        case Op::kF2i:
        case Op::kI2f:
        case Op::kFrnd:
            return OperationClass::kConversion;
        case Op::kF2f64:
        case Op::kF2i64:
        case Op::kI2f64:
        case Op::kFrnd64:
            return OperationClass::kConversion64;
        case Op::kRedux:
        case Op::kMatch:
            return OperationClass::kReduce;
        case Op::kFchk:
            return OperationClass::kMufu;
        case Op::kLdc:
        case Op::kS2r:
        case Op::kS2ur:
            return OperationClass::kMemory;
        default:
            return OperationClass::kSpecialRegister;
    }
}

}  // namespace

OperationClass class_of(sass::table::Pipe pipe, Op op) {
    using P = sass::table::Pipe;
    switch (pipe) {
        case P::kAlu:
            return OperationClass::kAlu;
        case P::kFma:
            if (is_wide_multiply(op)) return OperationClass::kImadWide;
            return is_integer_multiply(op) ? OperationClass::kImad : OperationClass::kFma;
        case P::kHalf:
            return OperationClass::kFp16;
        case P::kDouble:
            return OperationClass::kFp64;
        case P::kTensor:
        case P::kTensorAsync:
            return OperationClass::kTensor;
        case P::kVariable:
            return class_of_variable(op);
        case P::kUniform:
            return OperationClass::kUniform;
        case P::kBranch:
            return OperationClass::kBranch;
        case P::kMemory:
        case P::kTma:
        case P::kTexture:
            return OperationClass::kMemory;
        case P::kDispatch:
            return op == Op::kVote ? OperationClass::kVote : OperationClass::kDispatch;
        case P::kOther:
            return OperationClass::kDispatch;
    }
    return OperationClass::kDispatch;
}

Arithmetic arithmetic_of(Op op) {
    switch (op) {
        case Op::kFmul:
            return Arithmetic::kFmul;
        case Op::kFadd:
            return Arithmetic::kFadd;
        case Op::kFfma:
            return Arithmetic::kFfma;
        case Op::kDmul:
            return Arithmetic::kDmul;
        case Op::kDadd:
            return Arithmetic::kDadd;
        case Op::kDfma:
            return Arithmetic::kDfma;
        case Op::kHadd2:
            return Arithmetic::kHadd;
        case Op::kHfma2:
        case Op::kHfma2Mma:
            return Arithmetic::kHfma;
        case Op::kHmul2:
            return Arithmetic::kHmul;
        default:
            return Arithmetic::kNone;
    }
}

/// As the CUDA Binary Utilities group SASS: movement, predicates and miscellany are one kind to
/// Nsight Compute. Its counts of twenty kernels on an RTX 2080 Ti (HiPerCoRe/KTT, convolutions and
/// Coulomb sums) put BMOV among them, MUFU among FP32, PLOP3 and the uniform datapath nowhere.
LaneWork lane_work_of(sass::table::Pipe pipe, Op op) {
    using P = sass::table::Pipe;
    switch (op) {
        case Op::kFmnmx:
        case Op::kFsel:
        case Op::kFset:
        case Op::kFsetp:
        case Op::kFchk:
        case Op::kMufu:
            return LaneWork::kFp32;
        case Op::kF2f:
        case Op::kF2i:
        case Op::kI2f:
        case Op::kFrnd:
        case Op::kF2f64:
        case Op::kF2i64:
        case Op::kI2f64:
        case Op::kFrnd64:
        case Op::kF2fp:
        case Op::kF2ip:
        case Op::kI2fp:
        case Op::kI2i:
        case Op::kI2ip:
            return LaneWork::kConversion;
        case Op::kFlo:
        case Op::kBrev:
        case Op::kPopc:
            return LaneWork::kInteger;
        case Op::kMov:
        case Op::kMovm:
        case Op::kPrmt:
        case Op::kSel:
        case Op::kSgxt:
        case Op::kShfl:
        case Op::kP2r:
        case Op::kR2p:
        case Op::kCs2r:
        case Op::kS2r:
        case Op::kB2r:
        case Op::kBar:
        case Op::kBmovX155:
        case Op::kBmovX156:
        case Op::kBmovX157:
        case Op::kLdgdepbar:
        case Op::kArrives:
            return LaneWork::kMisc;
        case Op::kLdc:
        case Op::kMatch:
            return LaneWork::kMemory;
        case Op::kPlop3X1c:
        case Op::kPlop3X1d:
        case Op::kPlop3X1e:
        case Op::kPlop3X1f:
            return LaneWork::kNone;
        default:
            break;
    }
    switch (pipe) {
        case P::kAlu:
            return LaneWork::kInteger;
        case P::kFma:
            // The opcode of sm_70's HMMA.884 is VIADD on sm_90.
            return is_integer_multiply(op) || op == Op::kHmma884 ? LaneWork::kInteger
                                                                 : LaneWork::kFp32;
        case P::kHalf:
            return LaneWork::kFp16;
        case P::kDouble:
            return LaneWork::kFp64;
        case P::kBranch:
            return LaneWork::kControl;
        case P::kMemory:
        case P::kTexture:
            return LaneWork::kMemory;
        case P::kDispatch:
        case P::kOther:
            return LaneWork::kMisc;
        case P::kVariable:  // S2UR, R2UR, REDUX: results of the uniform datapath
        case P::kUniform:
        case P::kTensor:
        case P::kTensorAsync:
        case P::kTma:
            return LaneWork::kNone;
    }
    return LaneWork::kNone;
}

}  // namespace lockstep::gpu
