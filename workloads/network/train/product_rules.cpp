// SPDX-License-Identifier: Apache-2.0
// Gradients of matrix products. Of matrices they are Gemms that turn their operands, so that no
// transposition is stored; of stacks of matrices, MatMuls with transposed views.
#include "workloads/network/train/rule.h"

namespace lockstep::network::training {

namespace {

ValueId gemm(Rule& r, std::string_view part, ValueId a, bool turn_a, ValueId b, bool turn_b,
             double alpha = 1) {
    NodeAttributes attributes;
    if (turn_a) attributes["transA"] = std::int64_t{1};
    if (turn_b) attributes["transB"] = std::int64_t{1};
    if (alpha != 1) attributes["alpha"] = static_cast<float>(alpha);
    return r.op(kGemm, part, {a, b}, std::move(attributes));
}

/// y = alpha A' B' + beta C, where ' turns what its attribute says.
void general(Rule& r) {
    const bool turn_a = r.node.integer("transA", 0) != 0, turn_b = r.node.integer("transB", 0) != 0;
    const double alpha = double{r.node.real("alpha", 1)}, beta = double{r.node.real("beta", 1)};
    const ValueId a = r.in(0), b = r.in(1), dy = r.dy();
    if (r.needs(0))
        r.give(0, turn_a ? gemm(r, "left", b, turn_b, dy, true, alpha)
                         : gemm(r, "left", dy, false, b, !turn_b, alpha));
    if (r.needs(1))
        r.give(1, turn_b ? gemm(r, "right", dy, true, a, turn_a, alpha)
                         : gemm(r, "right", a, !turn_a, dy, false, alpha));
    if (r.needs(2)) r.give(2, r.times("addend", dy, beta));
}

ValueId turned(Rule& r, const std::string& part, ValueId x) {
    std::vector<std::int64_t> perm(r.w.shape(x).size());
    for (std::size_t d = 0; d < perm.size(); ++d) perm[d] = static_cast<std::int64_t>(d);
    std::swap(perm.end()[-1], perm.end()[-2]);
    return r.w.transpose(r.name(part + ".turned"), x, perm);
}

ValueId as_matrix(Rule& r, const std::string& part, ValueId x) {
    const Shape s = r.w.shape(x);
    if (s.size() == 2) return x;
    const std::int64_t rows = element_count(Shape(s.begin(), s.end() - 1));
    return r.w.reshape(r.name(part + ".matrix"), x, {rows, s.back()});
}

void matrices(Rule& r) {
    ValueId a = r.in(0), b = r.in(1), dy = r.dy();
    const Shape sa = r.shape(a), sb = r.shape(b), sy = r.shape(r.out());
    if (sa.size() == 1 || sb.size() == 1) {  // a vector is a matrix of one row or column
        Shape wa = sa, wb = sb, wy = sy;
        if (sb.size() == 1) wb.push_back(1), wy.push_back(1);
        if (sa.size() == 1) wa.insert(wa.begin(), 1), wy.insert(wy.end() - 1, 1);
        a = r.w.reshape(r.name("left.wide"), a, wa);
        b = r.w.reshape(r.name("right.wide"), b, wb);
        dy = r.w.reshape(r.name("y.wide"), dy, wy);
    }
    const auto give_as = [&](std::size_t i, const std::string& part, ValueId g, ValueId wide) {
        const ValueId x = r.in(i);
        // Sums over batches need the wide form; then the shape is the operand's again.
        if (wide == x) return r.give(i, g);
        const Shape from = r.w.shape(g), to = r.w.shape(wide);
        std::vector<std::int64_t> axes;
        for (std::size_t d = 0; d + 2 < from.size(); ++d)
            axes.push_back(static_cast<std::int64_t>(d));
        if (from.size() > to.size()) g = r.sum(part + ".batches", g, axes);
        r.give(i, r.w.reshape(r.name(part + ".narrow"), g, r.shape(x)));
    };
    const bool one_right = r.w.shape(b).size() == 2;
    if (r.needs(0)) {
        if (one_right && r.w.shape(dy).size() > 2) {
            const ValueId g = gemm(r, "left.rows", as_matrix(r, "left.dy", dy), false, b, true);
            give_as(0, "left", r.w.reshape(r.name("left"), g, r.w.shape(a)), a);
        } else {
            give_as(0, "left", r.op(kMatMul, "left", {dy, turned(r, "right", b)}), a);
        }
    }
    if (r.needs(1)) {
        // One matrix for all rows: a single product over all of them.
        const ValueId g = one_right ? gemm(r, "right", as_matrix(r, "right.x", a), true,
                                           as_matrix(r, "right.dy", dy), false)
                                    : r.op(kMatMul, "right", {turned(r, "left", a), dy});
        give_as(1, "right", g, b);
    }
    if (r.needs(2)) r.give(2, r.dy());
}

constexpr RuleRow kRows[] = {{kGemm, general}, {kMatMul, matrices}};

}  // namespace

std::span<const RuleRow> product_rules() {
    return kRows;
}

}  // namespace lockstep::network::training
