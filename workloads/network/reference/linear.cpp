// SPDX-License-Identifier: Apache-2.0
// Matrix products (Gemm, MatMul) and the LSTM on Eigen, row-major. The order of summation is
// Eigen's: FP64 is the yardstick, FP32 has the usual rounding of a blocked product.
// LSTM, per step, gates in the order input, output, forget, cell: sigmoid(x W' + h R' + Wb + Rb);
// c = f c + i tanh(g); h = o tanh(c). Source: the ONNX operator reference.
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/reference/array.h"
#include "workloads/network/reference/product.h"

namespace lockstep::network::reference {

namespace {

template <class Real>
void gemm(const Step<Real>& step) {
    const Shape &sa = step.in[0]->shape, &sb = step.in[1]->shape, &so = step.out[0]->shape;
    const View<Real> a(step.real(0).data(), sa[0], sa[1]), b(step.real(1).data(), sb[0], sb[1]);
    Target<Real> out(step.out[0]->real.data(), so[0], so[1]);
    const bool ta = step.node.integer("transA", 0) != 0, tb = step.node.integer("transB", 0) != 0;
    if (ta && tb)
        multiply<Real>(out, a.transpose(), b.transpose());
    else if (ta)
        multiply<Real>(out, a.transpose(), b);
    else if (tb)
        multiply<Real>(out, a, b.transpose());
    else
        multiply<Real>(out, a, b);
    const Real alpha = step.node.real("alpha", 1), beta = step.node.real("beta", 1);
    if (alpha != 1) out *= alpha;
    if (!step.has(2)) return;
    for_each(so, broadcast_strides(step.in[2]->shape, so), 0,
             [&](std::size_t i, std::size_t o) { step.out[0]->real[i] += beta * step.real(2)[o]; });
}

template <class Real>
void integer_matmul(const Step<Real>& step, std::size_t a, std::size_t b, std::size_t o,
                    std::int64_t m, std::int64_t k, std::int64_t n) {
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            std::uint64_t sum = 0;
            for (std::int64_t l = 0; l < k; ++l)
                sum += static_cast<std::uint64_t>(
                           step.in[0]->integer[a + static_cast<std::size_t>(i * k + l)]) *
                       static_cast<std::uint64_t>(
                           step.in[1]->integer[b + static_cast<std::size_t>(l * n + j)]);
            step.out[0]->integer[o + static_cast<std::size_t>(i * n + j)] =
                static_cast<std::int64_t>(sum);
        }
}

template <class Real>
void matmul(const Step<Real>& step) {
    Shape sa = step.in[0]->shape, sb = step.in[1]->shape, batch = step.out[0]->shape;
    if (sa.size() > 1) batch.pop_back();
    if (sb.size() > 1) batch.pop_back();
    if (sa.size() == 1) sa.insert(sa.begin(), 1);
    if (sb.size() == 1) sb.push_back(1);
    const std::int64_t m = sa[sa.size() - 2], k = sa.back(), n = sb.back();
    const Shape ba(sa.begin(), sa.end() - 2), bb(sb.begin(), sb.end() - 2);
    std::vector<std::size_t> which_a(static_cast<std::size_t>(element_count(batch)));
    for_each(batch, broadcast_strides(ba, batch), 0,
             [&](std::size_t i, std::size_t o) { which_a[i] = o; });
    for_each(batch, broadcast_strides(bb, batch), 0, [&](std::size_t i, std::size_t o) {
        const std::size_t a = which_a[i] * static_cast<std::size_t>(m * k),
                          b = o * static_cast<std::size_t>(k * n);
        const std::size_t at = i * static_cast<std::size_t>(m * n);
        if (!is_floating(step.in[0]->type)) return integer_matmul(step, a, b, at, m, k, n);
        multiply<Real>(Target<Real>(step.out[0]->real.data() + at, m, n),
                       View<Real>(step.real(0).data() + a, m, k),
                       View<Real>(step.real(1).data() + b, k, n));
    });
    if (!step.has(2)) return;
    std::vector<Real>& out = step.out[0]->real;
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] += step.real(2)[i % static_cast<std::size_t>(n)];
}

template <class Real>
Real sigmoid(Real x) {
    return 1 / (1 + std::exp(-x));
}

template <class Real>
void lstm_direction(const Step<Real>& step, std::int64_t d, std::int64_t directions,
                    bool backward) {
    const Shape& sx = step.in[0]->shape;
    const std::int64_t seq = sx[0], batch = sx[1], inputs = sx[2], hidden = step.in[2]->shape[2];
    const View<Real> w(step.real(1).data() + d * 4 * hidden * inputs, 4 * hidden, inputs);
    const View<Real> r(step.real(2).data() + d * 4 * hidden * hidden, 4 * hidden, hidden);
    RowMajor<Real> h = RowMajor<Real>::Zero(batch, hidden), c = h;
    const std::int64_t state = d * batch * hidden;
    if (step.has(5)) h = View<Real>(step.real(5).data() + state, batch, hidden);
    if (step.has(6)) c = View<Real>(step.real(6).data() + state, batch, hidden);
    for (std::int64_t t = 0; t < seq; ++t) {
        const std::int64_t at = backward ? seq - 1 - t : t;
        const View<Real> x(step.real(0).data() + at * batch * inputs, batch, inputs);
        RowMajor<Real> gates = x * w.transpose() + h * r.transpose();
        if (step.has(3)) {
            const Real* bias = step.real(3).data() + d * 8 * hidden;
            gates.rowwise() += View<Real>(bias, 1, 4 * hidden).row(0) +
                               View<Real>(bias + 4 * hidden, 1, 4 * hidden).row(0);
        }
        for (std::int64_t n = 0; n < batch; ++n)
            for (std::int64_t j = 0; j < hidden; ++j) {
                const Real i = sigmoid(gates(n, j)), o = sigmoid(gates(n, hidden + j)),
                           f = sigmoid(gates(n, 2 * hidden + j)),
                           g = std::tanh(gates(n, 3 * hidden + j));
                c(n, j) = f * c(n, j) + i * g;
                h(n, j) = o * std::tanh(c(n, j));
            }
        if (!step.out.empty() && step.out[0] != nullptr)
            Target<Real>(step.out[0]->real.data() + (at * directions + d) * batch * hidden, batch,
                         hidden) = h;
    }
    for (const std::size_t n : {1, 2})
        if (n < step.out.size() && step.out[n] != nullptr)
            Target<Real>(step.out[n]->real.data() + state, batch, hidden) = n == 1 ? h : c;
}

}  // namespace

template <class Real>
bool run_linear(const Step<Real>& step) {
    switch (step.node.op) {
        case Operator::kGemm:
            gemm(step);
            return true;
        case Operator::kMatMul:
            matmul(step);
            return true;
        case Operator::kLSTM: {
            const std::string direction = step.node.text("direction", "forward");
            const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
            for (std::int64_t d = 0; d < directions; ++d)
                lstm_direction(step, d, directions, direction == "reverse" || d == 1);
            return true;
        }
        default:
            return false;
    }
}

template bool run_linear(const Step<float>&);
template bool run_linear(const Step<double>&);

}  // namespace lockstep::network::reference
