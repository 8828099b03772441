// SPDX-License-Identifier: Apache-2.0
// Operators of one or two values, element by element, with broadcasting, on the vector unit.
#include "sim/error/error.h"
#include "workloads/network/quantisation.h"
#include "workloads/network/reference/quantised.h"
#include "workloads/network/tpu/lowering.h"

#include <algorithm>

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::Function;

std::optional<Function> function_of(const Graph& graph, const Node& node) {
    switch (node.op) {
        case Operator::kRelu:
            return Function::kRelu;
        case Operator::kSigmoid:
            return Function::kSigmoid;
        case Operator::kTanh:
            return Function::kTanh;
        case Operator::kExp:
            return Function::kExp;
        case Operator::kLog:
            return Function::kLog;
        case Operator::kSqrt:
            return Function::kSqrt;
        case Operator::kReciprocal:
            return Function::kReciprocal;
        case Operator::kNeg:
            return Function::kNegate;
        case Operator::kAbs:
            return Function::kAbs;
        case Operator::kErf:
            return Function::kErf;
        case Operator::kGelu:
            return node.text("approximate", "none") == "tanh" ? Function::kGeluTanh
                                                              : Function::kGelu;
        case Operator::kHardSwish:
            return Function::kHardSwish;
        case Operator::kSoftplus:
            return Function::kSoftplus;
        case Operator::kFloor:
            return Function::kFloor;
        case Operator::kHardSigmoid:
            if (node.real("alpha", 0.2f) != 1.0f / 6 || node.real("beta", 0.5f) != 0.5f)
                return std::nullopt;
            return Function::kHardSigmoid;
        case Operator::kLeakyRelu:
            if (node.real("alpha", 0.01f) != 0.01f) return std::nullopt;
            return Function::kLeakyRelu;
        case Operator::kClip: {
            const auto bound = [&](size_t i) {
                return node.input(i) == kNoValue ? std::nullopt
                                                 : scalar_of(graph.value(node.input(i)));
            };
            const auto low = bound(1), high = bound(2);
            if (low == 0.0f && high == 6.0f) return Function::kRelu6;
            if (low == 0.0f && node.input(2) == kNoValue) return Function::kRelu;
            return std::nullopt;
        }
        default:
            return std::nullopt;
    }
}

std::optional<Function> fused_function(const Graph& graph, const Node& node) {
    if (!is_quantised(graph, node))
        return graph.value(node.outputs[0]).quantisation ? std::nullopt : function_of(graph, node);
    if (node.op != Operator::kRelu && node.op != Operator::kClip) return std::nullopt;
    const Value &in = graph.value(node.inputs[0]), &out = graph.value(node.outputs[0]);
    if (in.type != out.type || in.quantisation->scale != out.quantisation->scale ||
        in.quantisation->zero_point != out.quantisation->zero_point)
        return std::nullopt;
    // A Clip may be no more than the saturation of the type.
    const std::vector<int32_t> table = activation_table(graph, node);
    const int32_t zero = in.quantisation->zero_point[0], low = range_of(in.type).low;
    bool identity = true, rectifier = true;
    for (size_t i = 0; i < table.size(); ++i) {
        const int32_t x = low + static_cast<int32_t>(i);
        identity &= table[i] == x;
        rectifier &= table[i] == std::max(x, zero);
    }
    if (!identity && !rectifier) return std::nullopt;
    return identity ? Function::kIdentity : Function::kRelu;
}

void Lowering::vector_op(Function function, Function then, const Tile& a, const Tile* b,
                         Broadcast broadcast, float immediate, const Tile& out, int64_t rows,
                         int64_t columns, std::array<Scaling, 3> scaling,
                         const numerics::FixedPointPair* fixed) {
    check_held(a);
    if (b != nullptr) check_held(*b);
    tpu::Instruction i(Opcode::kVector, {{Field::kFunction, function},
                                         {Field::kThen, then},
                                         {Field::kA, a.address},
                                         {Field::kAPitch, a.pitch},
                                         {Field::kAType, a.type},
                                         {Field::kAScale, scaling[0].scale},
                                         {Field::kAZero, scaling[0].zero},
                                         {Field::kBroadcast, broadcast},
                                         {Field::kImmediate, immediate},
                                         {Field::kDestination, out.address},
                                         {Field::kPitch, out.pitch},
                                         {Field::kType, out.type},
                                         {Field::kOutScale, scaling[2].scale},
                                         {Field::kZeroPoint, scaling[2].zero},
                                         {Field::kRows, rows},
                                         {Field::kColumns, columns}});
    if (b != nullptr) {
        i.set(Field::kB, b->address);
        i.set(Field::kBPitch, b->pitch);
        i.set(Field::kBType, b->type);
        i.set(Field::kBScale, scaling[1].scale);
        i.set(Field::kBZero, scaling[1].zero);
    }
    if (fixed != nullptr) {
        // The sign of what is subtracted is the multiplier's.
        if (function == Function::kSubtract) i.set(Field::kFunction, Function::kAdd);
        i.set(Field::kRounding, tpu::Rounding::kFixedPoint);
        i.set(Field::kFirst, fixed->first);
        i.set(Field::kSecond, fixed->second);
        i.set(Field::kShift, fixed->shift);
    }
    builder_.emit(i);
}

namespace {

/// The elements of operands that are read together, as nested loops: the two innermost are rows and
/// columns of an instruction.
struct Loops {
    Shape extents;                              ///< outermost first; at least two
    std::vector<std::vector<int64_t>> strides;  ///< by operand
};

/// In the order in which operand 0 (the result, dense) lies; loops that follow are joined.
Loops loops_of(const std::vector<Place>& operands) {
    const Place& first = operands[0];
    std::vector<size_t> order;
    for (size_t d = 0; d < first.shape.size(); ++d)
        if (first.shape[d] != 1) order.push_back(d);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return first.strides[a] > first.strides[b]; });
    Loops loops;
    loops.strides.resize(operands.size());
    for (size_t i = 0; i < order.size(); ++i) {
        const size_t d = order[i];
        // The innermost stays by itself: its length is that of a row.
        bool joins = !loops.extents.empty() && i + 1 < order.size();
        for (size_t o = 0; o < operands.size() && joins; ++o)
            joins = loops.strides[o].back() == operands[o].strides[d] * first.shape[d];
        if (joins) {
            loops.extents.back() *= first.shape[d];
            for (size_t o = 0; o < operands.size(); ++o)
                loops.strides[o].back() = operands[o].strides[d];
            continue;
        }
        loops.extents.push_back(first.shape[d]);
        for (size_t o = 0; o < operands.size(); ++o)
            loops.strides[o].push_back(operands[o].strides[d]);
    }
    while (loops.extents.size() < 2) {
        loops.extents.insert(loops.extents.begin(), 1);
        for (auto& strides : loops.strides) strides.insert(strides.begin(), 0);
        if (loops.extents.size() == 1) {
            for (auto& strides : loops.strides) strides.back() = 1;
        }
    }
    return loops;
}

/// The operand with a stride for each dimension of `shape`.
Place broadcast_to(const Place& place, const Shape& shape) {
    Place result = place;
    const size_t more = shape.size() - place.shape.size();
    result.shape = shape;
    result.strides.assign(shape.size(), 0);
    for (size_t d = more; d < shape.size(); ++d)
        if (place.shape[d - more] != 1) result.strides[d] = place.strides[d - more];
    return result;
}

}  // namespace

void Lowering::lower_unary(const Node& node) {
    if (is_fixed_point(node)) return lower_table(node);
    const bool quantises = node.op == Operator::kQuantizeLinear,
               dequantises = node.op == Operator::kDequantizeLinear;
    const std::optional<Function> function = quantises || dequantises || node.op == Operator::kCast
                                                 ? Function::kIdentity
                                                 : function_of(graph_, node);
    if (!function) throw InputError("the vector unit has no such operation");
    const ValueId x = node.inputs[0], y = node.outputs[0];
    if (node.op == Operator::kCast && !is_floating(value(y).type))
        throw InputError(fmt::format("to {}", name_of(value(y).type)));
    begin_step(node.name);
    const Place from = place(x);
    Place to = new_place(y, is_dense(from) ? from.strides : dense_strides(shape(y)));
    to.image = from.image;
    std::array<Scaling, 3> scaling = {scaling_of(value(x)), Scaling{}, scaling_of(value(y))};
    if (quantises || dequantises) {
        const std::optional<float> scale = scalar_of(value(node.inputs.at(1)));
        const ValueId zero = node.input(2);
        if (!scale) throw InputError("a scale a channel");
        scaling[dequantises ? 0 : 2] = {
            *scale, zero == kNoValue ? 0 : static_cast<int32_t>(*scalar_of(value(zero)))};
    }
    by_rows(from, to, 0, [&](const Tile& in, const Tile& out, int64_t, int64_t rows) {
        const int64_t columns = static_cast<int64_t>(in_memory_order(to).shape.back());
        vector_op(*function, Function::kIdentity, in, nullptr, Broadcast::kNone, 0, out, rows,
                  columns, scaling);
    });
    set_place(y, std::move(to));
}

void Lowering::lower_binary(const Node& node) {
    if (node.inputs.size() != 2) throw InputError("more or fewer than two operands");
    ValueId first = node.inputs[0], second = node.inputs[1];
    ValueId result = node.outputs[0];
    std::string name = node.name;
    Function then = Function::kIdentity;
    if (const Node* next = only_reader(result); next != nullptr && next->inputs[0] == result)
        if (const auto function = fused_function(graph_, *next)) {
            then = *function;
            done_.insert(next);
            result = next->outputs[0];
            name += "+" + next->name;
        }
    const Shape& out_shape = shape(result);
    Function function = Function::kAdd;
    switch (node.op) {
        case Operator::kAdd:
            break;
        case Operator::kSub:
            function = Function::kSubtract;
            break;
        case Operator::kMul:
            function = Function::kMultiply;
            break;
        case Operator::kDiv:
            function = Function::kDivide;
            break;
        case Operator::kPow:
            function = Function::kPower;
            break;
        case Operator::kMax:
            function = Function::kMaximum;
            break;
        case Operator::kEqual:
            function = Function::kEqual;
            break;
        case Operator::kLess:
            function = Function::kLess;
            break;
        default:
            function = Function::kMinimum;
            break;
    }
    const bool integer = value(result).quantisation.has_value();
    if (integer && node.op != Operator::kAdd && node.op != Operator::kSub &&
        node.op != Operator::kMul)
        throw InputError("not for integers");
    const bool commutes = function == Function::kAdd || function == Function::kMultiply ||
                          function == Function::kMaximum || function == Function::kMinimum ||
                          function == Function::kEqual;
    if (element_count(shape(first)) != element_count(out_shape) && commutes)
        std::swap(first, second);
    begin_step(name);
    const std::optional<float> immediate = integer ? std::nullopt : scalar_of(value(second));
    Place a = place(first);
    a.owner = nullptr;
    const auto flat = [&] { return is_dense(a) ? a.strides : dense_strides(a.shape); };
    std::vector<int64_t> strides = shape(first) == out_shape ? flat() : dense_strides(out_shape);
    Place to = place_over(result, first, strides);
    // Reference scales: steps of the result (quantised.h).
    std::array<Scaling, 3> scaling;
    if (integer) {
        const float out_scale = scaling_of(value(result)).scale;
        scaling = {scaling_of(value(first)), scaling_of(value(second)), scaling_of(value(result))};
        if (function == Function::kMultiply) {
            scaling[0].scale = static_cast<float>(double{scaling[0].scale} *
                                                  double{scaling[1].scale} / double{out_scale});
            scaling[1].scale = 1;
        } else {
            for (size_t i = 0; i < 2; ++i)
                scaling[i].scale = static_cast<float>(double{scaling[i].scale} / double{out_scale});
        }
        scaling[2].scale = 1;
    }
    const std::optional<Place> other =
        immediate ? std::nullopt : std::optional<Place>(place(second));
    std::optional<numerics::FixedPointPair> fixed;
    if (is_fixed_point(node))
        fixed = fixed_point_of(function, {&value(first), &value(second), &value(result)});
    elementwise(function, then, to, a, other, immediate, scaling, fixed ? &*fixed : nullptr);
    set_place(result, std::move(to));
}

void Lowering::elementwise(Function function, Function then, const Place& to, const Place& a,
                           const std::optional<Place>& second, std::optional<float> immediate,
                           const std::array<Scaling, 3>& scaling,
                           const numerics::FixedPointPair* fixed) {
    const Shape& out_shape = to.shape;
    // A row of an operand lies as that of the result; the second may be one value for the row.
    const auto beside = [&](const Place& operand, bool may_repeat) {
        Place p = broadcast_to(operand, out_shape);
        size_t inner = out_shape.size();
        for (size_t d = 0; d < out_shape.size(); ++d)
            if (out_shape[d] != 1 &&
                (inner == out_shape.size() || to.strides[d] <= to.strides[inner]))
                inner = d;
        if (inner == out_shape.size() || p.strides[inner] == 1 ||
            (may_repeat && p.strides[inner] == 0))
            return p;
        return copy_as(p, to.strides, layer().name + ".operand");
    };
    std::vector<Place> operands = {to, beside(a, false)};
    if (!immediate) operands.push_back(beside(*second, true));
    const Loops loops = loops_of(operands);
    const size_t depth = loops.extents.size();
    const int64_t columns = loops.extents[depth - 1], rows = loops.extents[depth - 2];
    LOCKSTEP_CHECK(loops.strides[1][depth - 1] == 1 || columns == 1, "{}", layer().name);

    const int64_t row_bytes = columns * static_cast<int64_t>(tpu::size_of(to.type));
    const int64_t most = std::max<int64_t>(
        1, std::min<int64_t>(rows, static_cast<int64_t>(window_room() / 16) / row_bytes));
    int64_t outer = 1;
    for (size_t d = 0; d + 2 < depth; ++d) outer *= loops.extents[d];
    const auto matrix_of = [&](size_t operand, int64_t index) {
        const Place& p = operands[operand];
        int64_t offset = 0;
        for (size_t d = depth - 2; d-- > 0;) {
            offset += index % loops.extents[d] * loops.strides[operand][d];
            index /= loops.extents[d];
        }
        return Matrix{p.space, p.address + p.bytes_of(offset),   p.type, rows,
                      columns, loops.strides[operand][depth - 2]};
    };
    for (int64_t index = 0; index < outer; ++index) {
        const Matrix out = matrix_of(0, index), in = matrix_of(1, index);
        std::optional<Matrix> other;
        std::optional<Tile> b;
        Broadcast broadcast = immediate ? Broadcast::kImmediate : Broadcast::kNone;
        if (!immediate) {
            other = matrix_of(2, index);
            const bool one = loops.strides[2][depth - 1] == 0 && columns != 1;
            if (one) {
                broadcast = Broadcast::kColumn;
                other->columns = 1;
            } else if (other->pitch == 0 && rows != 1) {
                broadcast = Broadcast::kRow;
                b = stage(*other, 0, 1);
            }
        }
        for (int64_t row = 0; row < rows; row += most) {
            const int64_t count = std::min(most, rows - row);
            const Tile x = stage(in, row, count);
            if (other && broadcast != Broadcast::kRow) b = stage(*other, row, count);
            const Tile y = stage_result(out, row, count);
            vector_op(function, then, x, b ? &*b : nullptr, broadcast, immediate.value_or(0), y,
                      count, columns, scaling, fixed);
            unstage(y, out, row, count);
        }
    }
}

}  // namespace lockstep::network::lowering
