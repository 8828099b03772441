// SPDX-License-Identifier: Apache-2.0
// A node joins the product before it where that alone makes what it reads and `activate` can do it:
// a residual, a scale, a function, and in integers maxima of an image's lines.
#include "workloads/network/tpu/epilogue.h"

#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/quantised.h"
#include "workloads/network/tpu/fixed_point.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/product_block.h"

namespace lockstep::network::lowering {

namespace {

/// Largest number in the instruction's fields for windows.
constexpr std::int64_t kMostPool = 15;

}  // namespace

std::optional<Matrix> rows_of(const Node& product, const Place& place) {
    // Of an image a row is a pixel.
    const Place rows =
        product.op == Operator::kConv ? compile::permuted(place, {0, 2, 3, 1}) : place;
    const std::int64_t columns = rows.shape.back();
    const std::optional<Place> joined =
        place.image.empty()
            ? compile::reshaped(rows, {element_count(rows.shape) / columns, columns})
            : std::nullopt;
    const auto matrices = joined ? matrices_of(*joined) : std::nullopt;
    return matrices && matrices->size() == 1 ? std::optional((*matrices)[0]) : std::nullopt;
}

std::optional<float> factor_of(const Graph& graph, const Node& node, ValueId value) {
    const bool divides = node.op == Operator::kDiv;
    if (!divides && node.op != Operator::kMul) return std::nullopt;
    const std::size_t other = node.inputs[0] == value ? 1 : 0;
    if (divides && other == 0) return std::nullopt;
    const std::optional<float> factor = scalar_of(graph.value(node.inputs[other]));
    if (!factor || *factor == 0 || graph.shape(node.outputs[0]) != graph.shape(value))
        return std::nullopt;
    return divides ? 1 / *factor : *factor;
}

EpilogueFinder::EpilogueFinder(Compilation& c, const Node& product)
    : c_(c), node_(product), integer_(c.value(product.outputs.at(0)).quantisation.has_value()) {}

Epilogue EpilogueFinder::find() {
    epilogue_.result = node_.outputs.at(0);
    epilogue_.name = node_.name;
    for (const Node* next = c_.places.only_reader(epilogue_.result); next != nullptr;
         next = c_.places.only_reader(epilogue_.result)) {
        if (!fuse(*next)) break;
        c_.fused.insert(next);
        epilogue_.result = next->outputs[0];
        epilogue_.name += "+" + next->name;
    }
    epilogue_.out = scaling_of(c_.value(epilogue_.result));
    if (integer_) {
        const std::vector<double> scales = requantisation_scales(c_.graph, node_);
        if (c_.target.fixed_point)
            for (const double scale : scales)
                epilogue_.fixed.push_back(numerics::fixed_point_scale(scale));
        else if (scales.size() == 1)
            epilogue_.scale = static_cast<float>(scales[0]);
        else
            for (const double scale : scales) epilogue_.scales.push_back(static_cast<float>(scale));
    }
    return std::move(epilogue_);
}

bool EpilogueFinder::fuse(const Node& next) {
    if (!integer_ && next.op == Operator::kAdd && epilogue_.addend == kNoValue &&
        epilogue_.function == tpu::Function::kIdentity)
        return fuse_residual(next);
    return fuse_scale(next) || fuse_activation(next) || fuse_pool(next) || fuse_addition(next);
}

bool EpilogueFinder::fuse_residual(const Node& next) {
    const ValueId other = next.inputs[next.inputs[0] == epilogue_.result ? 1 : 0];
    if (other == epilogue_.result || !c_.places.has(other) ||
        c_.shape(other) != c_.shape(epilogue_.result) || !lies_in_rows(c_.places.of(other)))
        return false;
    epilogue_.addend = other;
    return true;
}

bool EpilogueFinder::fuse_activation(const Node& next) {
    if (epilogue_.function != tpu::Function::kIdentity) return false;
    if (next.inputs.at(0) != epilogue_.result) return false;
    const std::optional<tpu::Function> function = fused_function(c_.graph, next);
    if (!function) return false;
    epilogue_.function = *function;
    return true;
}

bool EpilogueFinder::fuse_scale(const Node& next) {
    if (integer_ || epilogue_.function != tpu::Function::kIdentity || epilogue_.addend != kNoValue)
        return false;
    const std::optional<float> factor = factor_of(c_.graph, next, epilogue_.result);
    if (!factor) return false;
    epilogue_.scale *= *factor;
    return true;
}

bool EpilogueFinder::fuse_addition(const Node& next) {
    if (!c_.target.fixed_point || next.op != Operator::kAdd || !is_quantised(c_.graph, next))
        return false;
    if (epilogue_.addend != kNoValue || epilogue_.pool ||
        epilogue_.function != tpu::Function::kIdentity)
        return false;
    const ValueId other = next.inputs[next.inputs[0] == epilogue_.result ? 1 : 0];
    if (other == epilogue_.result || !c_.places.has(other) ||
        !compile::is_dense(c_.places.of(other)))
        return false;
    if (c_.shape(other) != c_.shape(epilogue_.result) ||
        c_.value(next.outputs[0]).type != c_.value(epilogue_.result).type)
        return false;
    // Its rows must lie as the product's do.
    const Shape& s = c_.shape(other);
    if (c_.places.of(other).strides !=
        (node_.op == Operator::kConv ? image_strides(s) : dense_strides(s)))
        return false;
    epilogue_.addend = other;
    epilogue_.addition =
        fixed_point_of(tpu::Function::kAdd,
                       {&c_.value(epilogue_.result), &c_.value(other), &c_.value(next.outputs[0])});
    return true;
}

bool EpilogueFinder::fuse_pool(const Node& next) {
    if (next.op != Operator::kMaxPool || !integer_ || c_.has_memory() || epilogue_.pool)
        return false;
    if (epilogue_.addend != kNoValue || node_.op != Operator::kConv || next.outputs.size() != 1)
        return false;
    // Held inputs are too few rows to be lines of an image.
    if (c_.target.limits.dataflow == tpu::Dataflow::kInputStationary) return false;
    const Value &in = c_.value(next.inputs[0]), &out = c_.value(next.outputs[0]);
    if (!out.quantisation || in.quantisation->scale != out.quantisation->scale ||
        in.quantisation->zero_point != out.quantisation->zero_point)
        return false;
    const Shape& image = *in.shape;
    const SlidingWindow w = window_of(next, image);
    const auto square = [](const std::vector<std::int64_t>& side) { return side[0] == side[1]; };
    if (!square(w.kernel) || !square(w.stride) || w.dilation != std::vector<std::int64_t>{1, 1})
        return false;
    for (std::size_t d = 0; d < 2; ++d) {
        const std::int64_t last = (w.output[d] - 1) * w.stride[d] - w.pad_begin[d];
        // No window sees padding alone.
        if (w.pad_begin[d] >= w.kernel[d] || last >= image[d + 2]) return false;
        if (w.kernel[d] > kMostPool || w.stride[d] > kMostPool) return false;
    }
    const std::int64_t limit = c_.target.limits.accumulator_rows / 2;
    if (w.kernel[0] * image[3] > limit) return false;
    // Lines that pass twice, by as many times as each goes through the array.
    const Shape& filter = c_.shape(node_.inputs[1]);
    const std::int64_t passes =
        (element_count(filter) / filter[0] + c_.target.limits.array_rows - 1) /
        c_.target.limits.array_rows;
    std::int64_t rows = 0;
    for (const Block& block : pool_blocks(w, image, limit, kAnyLines)) rows += block.rows;
    const std::int64_t pixels = image[0] * image[2] * image[3];
    if ((rows - pixels) * passes >= pixels) return false;
    epilogue_.pool = w;
    return true;
}

bool EpilogueFinder::lies_in_rows(const Place& addend) const {
    if (node_.op == Operator::kConv || has_constant_weights(c_.graph, node_))
        return rows_of(node_, addend).has_value();
    // A product for each matrix.
    return addend.image.empty() && (addend.shape.back() == 1 || addend.strides.back() == 1);
}

}  // namespace lockstep::network::lowering
