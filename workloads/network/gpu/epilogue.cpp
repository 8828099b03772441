// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/epilogue.h"

#include <algorithm>
#include <limits>

namespace lockstep::network::gpu {

namespace {

/// Whether an operand of the epilogue lies along rows, columns and batches; sets how.
bool place_operand(const Problem& made, const Place& place, const Shape& shape,
                   kernels::ProductOperand& operand) {
    const std::vector<std::int64_t> strides = broadcast_strides(place, shape);
    Shape rows;
    std::vector<std::int64_t> row_strides;
    for (const std::size_t d : made.axes.rows) {
        rows.push_back(shape[d]);
        row_strides.push_back(strides[d]);
    }
    const auto row = single_stride(rows, row_strides);
    if (!row) return false;
    operand.row = static_cast<std::int32_t>(*row);
    operand.column = static_cast<std::int32_t>(strides[made.axes.column]);
    const bool is_convolution = made.axes.rows.size() == 3;
    if (is_convolution) {
        // Groups are batches of columns.
        const std::int64_t group = made.batches[0];
        operand.batch[kernels::kBatchDims - 1] =
            static_cast<std::int32_t>(shape[made.axes.column] / group * operand.column);
    } else if (!made.batches.empty()) {
        std::vector<std::int64_t> batch;
        if (made.axes.batches.size() == made.batches.size()) {
            for (const std::size_t d : made.axes.batches) batch.push_back(strides[d]);
        } else {
            // The dimensions were joined: the operand must follow them.
            for (const std::int64_t stride :
                 std::vector<std::int64_t>(strides.begin(), strides.end() - 2))
                if (stride != 0) return false;
            batch.assign(made.batches.size(), 0);
        }
        put_last(operand.batch, batch, 0);
    }
    operand.type = type_of(place.type);
    const bool consecutive = operand.column == 1 && place.offset % 4 == 0 && operand.row % 4 == 0;
    operand.vector =
        consecutive && all_multiples({operand.batch[0], operand.batch[1], operand.batch[2]}, 4);
    return true;
}

}  // namespace

bool EpilogueWriter::add(const std::vector<ChainStep>& steps) {
    const kernels::Epilogue before = epilogue_;
    const int operands = operands_;
    for (const ChainStep& step : steps)
        if (!add(step)) {
            epilogue_ = before;
            operands_ = operands;
            return false;
        }
    return true;
}

bool EpilogueWriter::add(const ChainStep& from) {
    if (epilogue_.steps == kernels::kProductSteps) return false;
    kernels::Step step;
    step.function = from.function;
    step.a = static_cast<float>(from.a);
    step.b = static_cast<float>(from.b);
    if (!slot(from.x, from.axis, step.x) || !slot(from.y, from.axis, step.y)) return false;
    epilogue_.step[epilogue_.steps++] = step;
    return true;
}

bool EpilogueWriter::slot(ValueId value, std::optional<std::size_t> axis, std::int8_t& slot) {
    if (value == kNoValue) return true;
    if (operands_ == kernels::kProductOperands) return false;
    Place place = l_.place(value);
    if (axis) static_cast<compile::View&>(place) = along_axis(place, *axis, shape_);
    kernels::ProductOperand operand;
    if (!place_operand(problem_, place, shape_, operand)) return false;
    operand.data = l_.pointer(place);
    slot = static_cast<std::int8_t>(operands_);
    epilogue_.operand[operands_++] = operand;
    return true;
}

bool find_simple(kernels::Epilogue& e, std::int64_t columns) {
    using kernels::Function;
    if (columns % 4 != 0 || e.vector == 0) return false;
    e.bias = e.residual = -1;
    e.low = -std::numeric_limits<float>::infinity();
    e.high = std::numeric_limits<float>::infinity();
    for (int s = 0; s < e.steps; ++s) {
        const kernels::Step& step = e.step[s];
        const bool is_last = s + 1 == e.steps;
        if (step.function == Function::kAdd && step.x >= 0) {
            const kernels::ProductOperand& operand = e.operand[step.x];
            if (operand.vector == 0 || operand.type != e.type || e.residual >= 0) return false;
            if (operand.row == 0 && e.bias < 0)
                e.bias = step.x;
            else
                e.residual = step.x;
        } else if (step.function == Function::kRelu && is_last) {
            e.low = 0;
        } else if (step.function == Function::kClip && is_last) {
            e.low = step.a;
            e.high = step.b;
        } else {
            return false;
        }
    }
    return true;
}

std::vector<ChainStep> bias_steps(const Node& node) {
    if (node.input(2) == kNoValue || node.real("beta", 1) == 0) return {};
    ChainStep step{.function = kernels::Function::kAdd, .x = node.inputs[2]};
    if (node.op == Operator::kConv) step.axis = 1;
    return {step};
}

}  // namespace lockstep::network::gpu
