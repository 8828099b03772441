// SPDX-License-Identifier: Apache-2.0
// What takes a result from several elements of one operand: pooling, softmax, local response
// normalisation.
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/npu/lower.h"
#include "workloads/network/reference/local_response.h"
#include "workloads/network/reference/tflite.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::npu_code {

Step Lowering::pooling(std::size_t index) {
    const Node& node = graph_.nodes[index];
    Step step = begin(index, isa::Opcode::kPool);
    const bool global =
        node.op == Operator::kGlobalAveragePool || node.op == Operator::kGlobalMaxPool;
    const Shape& x = graph_.shape(node.inputs[0]);
    if (x.size() != 4) refuse("windows that are not over two dimensions");
    if (global) {
        step.window = {x[2], x[3]};
    } else {
        const SlidingWindow window = window_of(node, x);
        if (window.dilation != std::vector<std::int64_t>{1, 1}) refuse("dilated pooling windows");
        step.window = {
            window.kernel[0],    window.kernel[1],    window.stride[0], window.stride[1], 1, 1,
            window.pad_begin[0], window.pad_begin[1], window.output[0], window.output[1]};
    }
    if (info_of(node.op).integers == IntegerForm::kSameScale) {
        step.pooling = isa::PoolMode::kMax;
        identity(step, node.inputs[0]);
        return step;
    }
    if (divides_stored_values(graph_, node)) {
        if (node.integer("count_include_pad", 0) != 0 &&
            step.window.pad_top + step.window.pad_left != 0)
            refuse("an average that counts padding, of the same scale");
        step.pooling = isa::PoolMode::kAverage;
        return step;
    }
    step.pooling = isa::PoolMode::kMean;
    const double ratio = scale(node.inputs[0]) / scale(node.outputs[0]);
    const std::int64_t most = step.window.height * step.window.width;
    const bool all = node.integer("count_include_pad", 0) != 0;
    if (all && node.integer("ceil_mode", 0) != 0)
        refuse("an average that counts padding by ceil_mode");
    std::vector<std::uint8_t> shifts;
    for (std::int64_t count = 1; count <= most; ++count) {
        const numerics::FixedPointScale s = numerics::mean_scale(ratio, all ? most : count);
        for (int byte = 0; byte < 4; ++byte)
            step.parameters.push_back(static_cast<std::uint8_t>(s.multiplier >> (8 * byte)));
        shifts.push_back(static_cast<std::uint8_t>(s.shift));
    }
    step.parameters.insert(step.parameters.end(), shifts.begin(), shifts.end());
    return step;
}

Step Lowering::softmax(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const Shape& shape = graph_.shape(node.inputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", -1), shape.size());
    Step step = begin(index, isa::Opcode::kSoftmax);
    std::int64_t others = 1;
    for (std::size_t d = axis + 1; d < shape.size() && node.integer("flatten", 0) != 0; ++d)
        others *= shape[d];
    const bool channels =
        values_.is_image(node.inputs[0])
            ? axis == 1
            : std::all_of(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(),
                          [](std::int64_t extent) { return extent == 1; });
    if (!channels || shape[axis] != step.input.box.c || others != 1)
        refuse("over another dimension than the channels");
    if (step.input.box.type != isa::ElementType::kInt8 ||
        step.output.box.type != isa::ElementType::kInt8)
        refuse("of fewer than 8 bits");
    step.softmax = softmax_scale_of(graph_, node);
    return step;
}

Step Lowering::local_response(std::size_t index) {
    const Node& node = graph_.nodes[index];
    if (target_.neighbour_values == 0) refuse("the NPU has no unit for it");
    Step step = begin(index, isa::Opcode::kLocalResponse);
    if (!values_.is_image(node.inputs[0])) refuse("over another dimension than the channels");
    const IntegerLocalResponse rule = integer_local_response(graph_, node);
    step.before = static_cast<std::uint32_t>(rule.before);
    step.after = static_cast<std::uint32_t>(rule.after);
    step.input_zero = zero(node.inputs[0]);
    step.result = rule.scale;
    for (const std::uint16_t entry : rule.table.entries) {
        step.parameters.push_back(static_cast<std::uint8_t>(entry & 0xff));
        step.parameters.push_back(static_cast<std::uint8_t>(entry >> 8));
    }
    return step;
}

}  // namespace lockstep::network::npu_code
