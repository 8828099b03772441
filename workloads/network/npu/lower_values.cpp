// SPDX-License-Identifier: Apache-2.0
// Products of two computed values (attention's scores and context): the array takes its weights
// from the SRAM as they lie there. Heads are channels of a pixel, so a matrix is rows of a pitch;
// which of them belong together, and where the result goes, is a matter of strides alone.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/npu/lower.h"

namespace lockstep::network::npu_code {

namespace {

constexpr std::int64_t kMaximumExtent = 65535;  ///< of an image's fields

/// Matrices of a value: dimensions that are rows and columns, the others are counted through.
struct Matrices {
    std::size_t rows, columns;
};

std::uint64_t bytes_of(std::int64_t elements, isa::ElementType type) {
    const std::int64_t bits = elements * isa::bits_of(type);
    if (bits % 8 != 0) refuse("matrices whose rows do not begin at a byte");
    return static_cast<std::uint64_t>(bits / 8);
}

/// As images of rows of one pixel, one for each of `batch`, along which the value may be repeated.
Part part_of(const Strided& value, isa::ElementType type, const Matrices& m, const Shape& batch) {
    const compile::View& view = value.view;
    Part part;
    part.value = value.value;
    part.whole = value.whole;
    part.box = {element_count(batch), view.shape[m.rows], 1, view.shape[m.columns], type};
    if (part.box.h > kMaximumExtent || part.box.c > kMaximumExtent)
        refuse("a matrix with an extent over 65535");
    part.pitch = part.box.h == 1 ? part.box.row() : bytes_of(view.strides[m.rows], type);
    std::vector<std::int64_t> index(batch.size(), 0);
    const std::size_t missing = batch.size() + 2 - view.shape.size();
    for (std::int64_t image = 0; image < part.box.n; ++image) {
        std::int64_t offset = value.offset;
        for (std::size_t d = missing; d < batch.size(); ++d)
            if (view.shape[d - missing] != 1) offset += index[d] * view.strides[d - missing];
        part.images.push_back(bytes_of(offset, type));
        for (std::size_t d = batch.size(); d-- > 0;) {
            if (++index[d] < batch[d]) break;
            index[d] = 0;
        }
    }
    return part;
}

bool is_consecutive(const compile::View& view, std::size_t dimension) {
    return view.shape[dimension] == 1 || view.strides[dimension] == 1;
}

}  // namespace

/// Whether all that read a value, after movements that only change how it is seen, are products of
/// two values.
bool Lowering::read_by_products(ValueId id) const {
    if (values_.uses().is_result(id)) return false;
    return std::ranges::all_of(values_.uses().readers(id), [&](std::size_t reader) {
        const Node& node = graph_.nodes[reader];
        if (info_of(node.op).product == ProductForm::kMatrices ||
            info_of(node.op).product == ProductForm::kGemm)
            return is_quantised(graph_, node) && !is_given(graph_.value(node.inputs[0])) &&
                   !is_given(graph_.value(node.inputs[1]));
        return is_view(node.op) && read_by_products(node.outputs[0]);
    });
}

Step Lowering::product_of_values(const Node& node) {
    if (node.op == Operator::kConv) refuse("a convolution with computed weights");
    const ValueId a = node.inputs[0], b = node.inputs[1], y = node.outputs[0];
    const Strided left = values_.strided(a), right = values_.strided(b);
    const std::size_t rank_a = left.view.shape.size(), rank_b = right.view.shape.size();
    if (rank_a < 2 || rank_b < 2) refuse("a product with a vector that is computed");
    if (!left.view.image.empty() || !right.view.image.empty()) refuse("of a flattened image");
    const Shape& shape = graph_.shape(y);
    if (values_.is_image(y)) refuse("a result that windows read");
    const Shape batch(shape.begin(), shape.end() - 2);
    const bool turns_a = node.integer("transA", 0) != 0, turns_b = node.integer("transB", 0) != 0;
    const Matrices rows{turns_a ? rank_a - 1 : rank_a - 2, turns_a ? rank_a - 2 : rank_a - 1};
    if (!is_consecutive(left.view, rows.columns)) refuse("a first operand that is transposed");
    Matrices columns{turns_b ? rank_b - 1 : rank_b - 2, turns_b ? rank_b - 2 : rank_b - 1};
    Step step;
    step.name = node.name;
    step.opcode = isa::Opcode::kMatrixMultiply;
    step.transposed = !is_consecutive(right.view, columns.columns);
    if (step.transposed) {
        std::swap(columns.rows, columns.columns);
        if (!is_consecutive(right.view, columns.columns))
            refuse("a second operand whose elements are apart in both directions");
    }
    step.input = part_of(left, values_.type_of(a), rows, batch);
    step.operand = part_of(right, values_.type_of(b), columns, batch);
    step.operand_zero = zero(b);
    set_output(step, y);
    const Strided out = values_.strided(y);
    step.output = part_of(out, values_.type_of(y), {shape.size() - 2, shape.size() - 1}, batch);
    step.window.rows = step.output.box.h;
    step.macs = element_count(shape) * step.input.box.c;
    step.input_zero = zero(a);
    for (const double s : requantisation_scales(graph_, node))
        step.scales.push_back(numerics::fixed_point_scale(s));
    if (node.input(2) == kNoValue) return step;
    step.bias.assign(static_cast<std::size_t>(shape.back()), 0);
    if (graph_.value(node.inputs[2]).is_known()) {
        const std::vector<std::int64_t> given = to_integers(*graph_.value(node.inputs[2]).data);
        for (std::size_t c = 0; c < step.bias.size(); ++c)
            step.bias[c] = static_cast<std::int32_t>(given.at(given.size() == 1 ? 0 : c) -
                                                     zero(node.inputs[2]));
    }
    for (const std::int32_t bias : step.bias)
        for (int byte = 0; byte < 4; ++byte)
            step.parameters.push_back(static_cast<std::uint8_t>(bias >> (8 * byte)));
    return step;
}

/// A product whose result is only read in another order of its dimensions may as well be stored in
/// that order: so heads become channels again.
bool Lowering::place_transposed(const Node& node, std::vector<Step>& before) {
    const ValueId from = node.inputs.at(0), to = node.outputs.at(0);
    const auto maker = std::find_if(before.begin(), before.end(), [&](const Step& s) {
        return s.output.value == from && s.is_matrix_product();
    });
    if (maker == before.end() || values_.readers(from) != 1 || values_.is_image(to)) return false;
    const std::vector<std::int64_t> perm = node.integers("perm");
    const Shape& shape = graph_.shape(from);
    if (perm.size() != shape.size() || perm.back() + 1 != static_cast<std::int64_t>(perm.size()))
        return false;
    Strided out = values_.strided(to);
    const compile::View dense = out.view;
    out.view.shape = shape;
    for (std::size_t d = 0; d < perm.size(); ++d)
        out.view.strides[static_cast<std::size_t>(perm[d])] = dense.strides[d];
    maker->output = part_of(out, values_.type_of(to), {shape.size() - 2, shape.size() - 1},
                            Shape(shape.begin(), shape.end() - 2));
    return true;
}

}  // namespace lockstep::network::npu_code
