// SPDX-License-Identifier: Apache-2.0
// Softmax, cross-entropy and embedding, with their gradients. exp(x - max) carries the rounding of
// the difference (as large as the range of x) into its own relative error.
#include <algorithm>
#include <cmath>

#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

constexpr double kExpRoundings = 16;  // of x in [-4, 4]: the difference, exp itself, the division

struct Matrix {
    int rows, cols, size;
    explicit Matrix(const Run& run)
        : rows(run["rows"]), cols(run["cols"]), size(run.count({rows, cols})) {}
    unsigned blocks() const { return static_cast<unsigned>(rows); }
};

std::vector<double> reference_softmax(const Matrix& p, const Array<float>& x) {
    std::vector<double> y(p.size);
    for (int row = 0; row < p.rows; ++row) {
        const float* from = &x.view()[std::size_t(row) * p.cols];
        double* to = &y[std::size_t(row) * p.cols];
        const double max = *std::max_element(from, from + p.cols);
        double sum = 0;
        for (int i = 0; i < p.cols; ++i) sum += to[i] = std::exp(from[i] - max);
        for (int i = 0; i < p.cols; ++i) to[i] /= sum;
    }
    return y;
}

void softmax(Run& run) {
    const Matrix p(run);
    const auto x = run.uniform(p.size, -4, 4), y = run.zeros<float>(p.size);
    run.launch({"softmax", "softmax"}, {p.blocks()}, {128}, 0, Arguments(x, y, p.rows, p.cols));
    if (!run.verify()) return;
    const auto expected = reference_softmax(p, x);
    run.check("y", y, kExpRoundings + p.cols, [&](int i) {
        return Expected{expected[i], expected[i]};
    });
}

void softmax_backward(Run& run) {
    const Matrix p(run);
    const auto y = run.uniform(p.size, 0, 2.0f / p.cols), dy = run.uniform(p.size);
    const auto dx = run.zeros<float>(p.size);
    run.launch({"softmax", "softmax_backward"}, {p.blocks()}, {128}, 0,
               Arguments(y, dy, dx, p.rows, p.cols));
    if (!run.verify()) return;
    std::vector<ReferenceSum> dots(p.rows);
    for (int i = 0; i < p.size; ++i) dots[i / p.cols].add(double{y.view()[i]} * dy.view()[i]);
    run.check("dx", dx, 4.0 + p.cols, [&](int i) {
        const double v = y.view()[i], d = dy.view()[i];
        const ReferenceSum& dot = dots[i / p.cols];
        return Expected{v * (d - dot.value), v * (std::abs(d) + dot.magnitude)};
    });
}

void cross_entropy(Run& run) {
    const Matrix p(run);
    const auto x = run.uniform(p.size, -4, 4), loss = run.zeros<float>(p.rows);
    const auto labels = run.integers<int>(p.rows, 0, p.cols - 1);
    run.launch({"cross_entropy", "cross_entropy"}, {p.blocks()}, {128}, 0,
               Arguments(x, labels, loss, p.rows, p.cols));
    if (!run.verify()) return;
    const auto probability = reference_softmax(p, x);
    run.check("loss", loss, kExpRoundings + p.cols, [&](int row) {
        const double l = -std::log(probability[std::size_t(row) * p.cols + labels.view()[row]]);
        return Expected{l, 4 + std::abs(l)};  // the maximum, up to 4, is added and taken away
    });
}

void cross_entropy_backward(Run& run) {
    const Matrix p(run);
    const float scale = 1.0f / static_cast<float>(p.rows);
    const auto x = run.uniform(p.size, -4, 4), dx = run.zeros<float>(p.size);
    const auto labels = run.integers<int>(p.rows, 0, p.cols - 1);
    run.launch({"cross_entropy", "cross_entropy_backward"}, {p.blocks()}, {128}, 0,
               Arguments(x, labels, dx, p.rows, p.cols, scale));
    if (!run.verify()) return;
    const auto probability = reference_softmax(p, x);
    run.check("dlogits", dx, kExpRoundings + p.cols, [&](int i) {
        const double onehot = i % p.cols == labels.view()[i / p.cols];
        return Expected{(probability[i] - onehot) * scale, (probability[i] + onehot) * scale};
    });
}

struct Table {
    int tokens, vocabulary, dim;
    explicit Table(const Run& run)
        : tokens(run["tokens"]), vocabulary(run["vocabulary"]), dim(run["dim"]) {
        run.count({tokens, dim});
        run.count({vocabulary, dim});
    }
};

void embedding(Run& run) {
    const Table p(run);
    const auto ids = run.integers<int>(p.tokens, 0, p.vocabulary - 1);
    const auto table = run.uniform(std::size_t(p.vocabulary) * p.dim);
    const auto y = run.zeros<float>(std::size_t(p.tokens) * p.dim);
    run.launch({"embedding", "embedding"}, {static_cast<unsigned>(p.tokens)}, {128}, 0,
               Arguments(ids, table, y, p.tokens, p.vocabulary, p.dim));
    run.check_bits("y", y, [&](int i) {
        return table.view()[std::size_t(ids.view()[i / p.dim]) * p.dim + i % p.dim];
    });
}

void embedding_backward(Run& run) {
    const Table p(run);
    const auto ids = run.integers<int>(p.tokens, 0, p.vocabulary - 1);
    const auto dy = run.uniform(std::size_t(p.tokens) * p.dim);
    const auto dtable = run.zeros<float>(std::size_t(p.vocabulary) * p.dim);
    run.launch({"embedding", "embedding_backward"}, {static_cast<unsigned>(p.tokens)}, {128}, 0,
               Arguments(ids, dy, dtable, p.tokens, p.vocabulary, p.dim));
    if (!run.verify()) return;
    std::vector<ReferenceSum> sums(dtable.size);
    std::vector<int> uses(p.vocabulary);
    for (std::size_t i = 0; i < dy.size; ++i) {
        sums[std::size_t(ids.view()[i / p.dim]) * p.dim + i % p.dim].add(dy.view()[i]);
    }
    for (const int id : ids.view()) ++uses[id];
    const int most = *std::max_element(uses.begin(), uses.end());
    run.check("dtable", dtable, most, [&](int i) { return sums[i]; });
}

}  // namespace

std::vector<Workload> classification_workloads() {
    const std::vector<ParameterInfo> matrix = {size_parameter("rows", 256, "rows"),
                                               size_parameter("cols", 256, "classes")};
    const std::vector<ParameterInfo> table = {
        size_parameter("tokens", 256, "ids to look up"),
        size_parameter("vocabulary", 1000, "rows of the table"),
        size_parameter("dim", 64, "columns of the table")};
    return {
        {"softmax", "softmax over rows", matrix, softmax},
        {"softmax_backward", "gradient of softmax", matrix, softmax_backward},
        {"cross_entropy", "cross-entropy of logits with one label a row", matrix, cross_entropy},
        {"cross_entropy_backward", "its gradient", matrix, cross_entropy_backward},
        {"embedding", "rows of a table by id", table, embedding},
        {"embedding_backward", "its gradient, by atomics", table, embedding_backward},
    };
}

}  // namespace lockstep::cuda
