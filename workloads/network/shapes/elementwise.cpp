// SPDX-License-Identifier: Apache-2.0
// Shapes and types of the operators that work element by element, after the ONNX operator
// reference.
#include "workloads/network/shapes/rule.h"

#include "workloads/network/onnx_type.h"

namespace lockstep::network::shapes {

namespace {

void infer_elementwise(const Rule& r) {
    const bool logical =
        r.node.op == Operator::kAnd || r.node.op == Operator::kOr || r.node.op == Operator::kXor;
    r.require(!logical || r.type(0) == ElementType::kBool, "an operand is not bool");
    Shape shape = r.in(0);
    for (size_t i = 1; i < r.node.inputs.size(); ++i) {
        // The exponent of Pow may have a type of its own.
        if (r.node.op != Operator::kPow) r.require_type(i, 0);
        shape = broadcast(shape, r.in(i), r.node);
    }
    const bool compares = r.node.op == Operator::kEqual || r.node.op == Operator::kLess ||
                          r.node.op == Operator::kLessOrEqual || r.node.op == Operator::kGreater ||
                          r.node.op == Operator::kGreaterOrEqual;
    r.set(0, compares ? ElementType::kBool : r.type(0), shape);
}

void infer_cast(const Rule& r) {
    const std::optional<ElementType> to = onnx_element_type(r.node.integer("to", 0));
    r.require(to.has_value(), fmt::format("to type {}", r.node.integer("to", 0)));
    r.set(0, *to, r.in(0));
}

void infer_where(const Rule& r) {
    r.require(r.type(0) == ElementType::kBool, "the condition is not bool");
    r.require_type(2, 1);
    r.set(0, r.type(1), broadcast(r.in(0), broadcast(r.in(1), r.in(2), r.node), r.node));
}

}  // namespace

bool infer_elementwise_family(const Rule& r) {
    const Node& node = r.node;
    switch (node.op) {
        case Operator::kAdd:
        case Operator::kAnd:
        case Operator::kDiv:
        case Operator::kEqual:
        case Operator::kGreater:
        case Operator::kGreaterOrEqual:
        case Operator::kLess:
        case Operator::kLessOrEqual:
        case Operator::kMax:
        case Operator::kMin:
        case Operator::kMod:
        case Operator::kMul:
        case Operator::kOr:
        case Operator::kPow:
        case Operator::kSub:
        case Operator::kSum:
        case Operator::kXor:
            infer_elementwise(r);
            break;
        case Operator::kPRelu:
            r.require_floating();
            r.require(broadcast(r.in(0), r.in(1), node) == r.in(0), "slope " + to_string(r.in(1)));
            r.set(0, r.type(0), r.in(0));
            break;
        case Operator::kCast:
            infer_cast(r);
            break;
        case Operator::kWhere:
            infer_where(r);
            break;
        case Operator::kNot:
            r.require(r.type(0) == ElementType::kBool, "the operand is not bool");
            r.set(0, r.type(0), r.in(0));
            break;
        case Operator::kClip:
            for (size_t i = 1; i < node.inputs.size(); ++i)
                if (r.has(i)) r.require_type(i, 0);
            r.set(0, r.type(0), r.in(0));
            break;
        case Operator::kDropout:
            r.set(1, ElementType::kBool, r.in(0));
            r.set(0, r.type(0), r.in(0));
            break;
        case Operator::kIsInf:
        case Operator::kIsNaN:
            r.require_floating();
            r.set(0, ElementType::kBool, r.in(0));
            break;
        case Operator::kAbs:
        case Operator::kAcos:
        case Operator::kAsin:
        case Operator::kAtan:
        case Operator::kCeil:
        case Operator::kCos:
        case Operator::kCosh:
        case Operator::kFloor:
        case Operator::kRound:
        case Operator::kSign:
        case Operator::kSin:
        case Operator::kSinh:
        case Operator::kSoftplus:
        case Operator::kSoftsign:
        case Operator::kElu:
        case Operator::kErf:
        case Operator::kExp:
        case Operator::kGelu:
        case Operator::kHardSigmoid:
        case Operator::kHardSwish:
        case Operator::kIdentity:
        case Operator::kLeakyRelu:
        case Operator::kLog:
        case Operator::kNeg:
        case Operator::kReciprocal:
        case Operator::kRelu:
        case Operator::kSigmoid:
        case Operator::kSqrt:
        case Operator::kTan:
        case Operator::kTanh:
            r.set(0, r.type(0), r.in(0));
            break;
        default:
            return false;
    }
    return true;
}

}  // namespace lockstep::network::shapes
