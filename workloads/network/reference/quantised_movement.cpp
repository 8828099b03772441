// SPDX-License-Identifier: Apache-2.0
// Stored values in other places. Where scales differ (Concat), each is requantised.
#include "sim/numerics/resize.h"
#include "workloads/network/reference/quantised_step.h"

namespace lockstep::network::reference {

namespace {

/// Inputs that are moved; the others say where to.
template <class Real>
bool is_operand(const QuantisedStep<Real>& q, std::size_t i) {
    return q.step.has(i) && (i == 0 || q.node.op == Operator::kConcat);
}

template <class Real>
void move_values(const QuantisedStep<Real>& q) {
    std::vector<Exact> operands;
    for (std::size_t i = 0; i < q.step.in.size(); ++i) {
        if (!is_operand(q, i)) {
            operands.push_back({});
            if (!q.step.has(i)) continue;
            operands.back().shape = q.step.in[i]->shape;
            operands.back().type = q.step.in[i]->type;
            operands.back().integer = q.step.in[i]->integer;
            continue;
        }
        operands.push_back(q.centre(i));
        if (q.node.op != Operator::kConcat) {
            q.same_scale(0);
            continue;
        }
        const auto fixed = numerics::fixed_point_scale(q.scale(i) / q.out.scale[0]);
        if (q.scale(i) != double{q.out.scale[0]})
            for (double& x : operands.back().real)
                x = static_cast<double>(
                    numerics::multiply(static_cast<std::int32_t>(x), fixed, q.rounding));
    }
    std::vector<const Exact*> in;
    for (std::size_t i = 0; i < operands.size(); ++i)
        in.push_back(q.step.has(i) ? &operands[i] : nullptr);
    const Exact moved = run_exactly(q.step.graph, q.node, in, q.step.out[0]->shape);
    // A window that sees padding alone has no maximum: the lowest double, which saturates.
    for (std::size_t i = 0; i < q.y().size(); ++i)
        q.y()[i] = numerics::saturate(
            static_cast<std::int64_t>(std::max(moved.real[i], -0x1p40)) + q.zero(), q.range);
}

template <class Real>
void move_parts(const QuantisedStep<Real>& q) {
    for (std::size_t i = 0; i < q.step.out.size(); ++i) q.same_scale(i);
    run_kernel(q.step);
}

/// In fractions of 1/1024, and rounded once. It works on the stored values themselves.
template <class Real>
void resize(const QuantisedStep<Real>& q) {
    q.same_scale(0);
    const Shape &in = q.step.in[0]->shape, &out = q.step.out[0]->shape;
    const numerics::ResizeAxis::Mode mode{true, q.node.integer("half_pixel_centers", 0) != 0,
                                          q.node.integer("align_corners", 0) != 0};
    const numerics::ResizeAxis rows(in[2], out[2], mode), columns(in[3], out[3], mode);
    const auto rounding = q.rounding == numerics::IntegerRounding::kUp
                              ? numerics::IntegerRounding::kUp
                              : numerics::IntegerRounding::kAway;
    constexpr std::int64_t kOne = numerics::ResizeAxis::kOne;
    std::size_t to = 0;
    for (std::int64_t plane = 0; plane < in[0] * in[1]; ++plane)
        for (std::int64_t oy = 0; oy < out[2]; ++oy)
            for (std::int64_t ox = 0; ox < out[3]; ++ox) {
                const auto row = rows.at(oy), column = columns.at(ox);
                const auto at = [&](std::int64_t r, std::int64_t c) {
                    return q.step.in[0]
                        ->integer[static_cast<std::size_t>((plane * in[2] + r) * in[3] + c)];
                };
                const auto line = [&](std::int64_t r) {
                    return at(r, column.low) * (kOne - column.fraction) +
                           at(r, column.high) * column.fraction;
                };
                q.y()[to++] = numerics::saturate(
                    numerics::shift_right(
                        line(row.low) * (kOne - row.fraction) + line(row.high) * row.fraction,
                        2 * numerics::ResizeAxis::kBits, rounding),
                    q.range);
            }
}

}  // namespace

template <class Real>
void run_quantised_movement(const QuantisedStep<Real>& q) {
    if (q.node.op == Operator::kResizeBilinear) return resize(q);
    const bool parts =
        info_of(q.node.op).integers == IntegerForm::kSameValues && q.node.outputs.size() > 1;
    parts ? move_parts(q) : move_values(q);
}

template void run_quantised_movement(const QuantisedStep<float>&);
template void run_quantised_movement(const QuantisedStep<double>&);

}  // namespace lockstep::network::reference
