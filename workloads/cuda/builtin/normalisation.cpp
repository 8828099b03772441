// SPDX-License-Identifier: Apache-2.0
// Layer and batch normalisation and their gradients. References are in double from the same inputs;
// a mean of `count` values carries their roundings into everything that follows.
#include <cmath>

#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

constexpr float kEpsilon = 1e-5f, kMomentum = 0.1f;

// One normalised group (a row; a channel): where its elements are, and their statistics.
struct Group {
    std::vector<int> at;
    double mean = 0, variance = 0, rstd = 0;

    void measure(const Array<float>& x) {
        for (const int i : at) mean += x.view()[i];
        mean /= double(at.size());
        for (const int i : at) variance += (x.view()[i] - mean) * (x.view()[i] - mean);
        variance /= double(at.size());
        rstd = 1 / std::sqrt(variance + kEpsilon);
    }
};

// Element i of x[outer][channels][inner]: its group and which gamma and beta it takes.
struct Layout {
    int size = 0;
    std::vector<Group> groups;
    std::vector<int> group_of, parameter_of;
};

Layout rows_layout(int rows, int cols) {
    Layout layout{rows * cols, std::vector<Group>(rows), {}, {}};
    for (int i = 0; i < layout.size; ++i) {
        layout.group_of.push_back(i / cols);
        layout.parameter_of.push_back(i % cols);
        layout.groups[i / cols].at.push_back(i);
    }
    return layout;
}

Layout channels_layout(int n, int channels, int inner) {
    Layout layout{n * channels * inner, std::vector<Group>(channels), {}, {}};
    for (int i = 0; i < layout.size; ++i) {
        const int c = i / inner % channels;
        layout.group_of.push_back(c);
        layout.parameter_of.push_back(c);
        layout.groups[c].at.push_back(i);
    }
    return layout;
}

void check_normalised(Run& run, Layout layout, const Array<float>& x, const Array<float>& gamma,
                      const Array<float>& beta, const Array<float>& y) {
    for (Group& group : layout.groups) group.measure(x);
    const double roundings = 16.0 + layout.groups[0].at.size();
    run.check("y", y, roundings, [&](int i) {
        const Group& group = layout.groups[layout.group_of[i]];
        const double g = gamma.view()[layout.parameter_of[i]];
        const double b = beta.view()[layout.parameter_of[i]];
        const double v = x.view()[i];
        return Expected{(v - group.mean) * group.rstd * g + b,
                        (std::abs(v) + 1) * group.rstd * std::abs(g) + std::abs(b)};
    });
}

// The gradients of normalisation: of x, and the sums that make those of gamma and beta.
void check_gradients(Run& run, Layout layout, const Array<float>& x, const Array<float>& gamma,
                     const Array<float>& dy, const Array<float>& dx, const Array<float>& dgamma,
                     const Array<float>& dbeta) {
    for (Group& group : layout.groups) group.measure(x);
    std::vector<ReferenceSum> sums(layout.groups.size()), dots(layout.groups.size());
    std::vector<ReferenceSum> gamma_sums(gamma.size), beta_sums(gamma.size);
    for (int i = 0; i < layout.size; ++i) {
        const Group& group = layout.groups[layout.group_of[i]];
        const int parameter = layout.parameter_of[i];
        const double xhat = (x.view()[i] - group.mean) * group.rstd, d = dy.view()[i];
        const double g = d * gamma.view()[parameter];
        sums[layout.group_of[i]].add(g);
        dots[layout.group_of[i]].add(g * xhat);
        // xhat carries the roundings of x and of its group's mean.
        gamma_sums[parameter].value += d * xhat;
        gamma_sums[parameter].magnitude +=
            std::abs(d) * (std::abs(x.view()[i]) + std::abs(group.mean)) * group.rstd;
        beta_sums[parameter].add(d);
    }
    const double count = double(layout.groups[0].at.size());
    const double per_parameter = double(layout.size) / double(gamma.size);
    run.check("dx", dx, 16 + count, [&](int i) {
        const int at = layout.group_of[i];
        const Group& group = layout.groups[at];
        const double xhat = (x.view()[i] - group.mean) * group.rstd;
        const double g = dy.view()[i] * double{gamma.view()[layout.parameter_of[i]]};
        return Expected{group.rstd * (g - sums[at].value / count - xhat * dots[at].value / count),
                        group.rstd * (std::abs(g) + sums[at].magnitude / count +
                                      (std::abs(xhat) + 1) * dots[at].magnitude / count)};
    });
    run.check("dgamma", dgamma, 16 + count + per_parameter, [&](int i) { return gamma_sums[i]; });
    run.check("dbeta", dbeta, 2 + per_parameter, [&](int i) { return beta_sums[i]; });
}

void layernorm(Run& run) {
    const int rows = run["rows"], cols = run["cols"], size = run.count({rows, cols});
    const auto x = run.uniform(size), gamma = run.uniform(cols), beta = run.uniform(cols);
    const auto y = run.zeros<float>(size), mean = run.zeros<float>(rows);
    const auto rstd = run.zeros<float>(rows);
    run.launch({"layernorm", "layernorm"}, {static_cast<unsigned>(rows)}, {128}, 0,
               Arguments(x, gamma, beta, y, mean, rstd, rows, cols, kEpsilon));
    if (run.verify()) check_normalised(run, rows_layout(rows, cols), x, gamma, beta, y);
}

void layernorm_backward(Run& run) {
    const int rows = run["rows"], cols = run["cols"], size = run.count({rows, cols});
    const auto x = run.uniform(size), gamma = run.uniform(cols), beta = run.uniform(cols);
    const auto dy = run.uniform(size), y = run.zeros<float>(size), dx = run.zeros<float>(size);
    const auto mean = run.zeros<float>(rows), rstd = run.zeros<float>(rows);
    const auto dgamma = run.zeros<float>(cols), dbeta = run.zeros<float>(cols);
    const auto blocks = static_cast<unsigned>(rows);
    run.launch({"layernorm", "layernorm"}, {blocks}, {128}, 0,
               Arguments(x, gamma, beta, y, mean, rstd, rows, cols, kEpsilon));
    run.launch({"layernorm", "layernorm_backward"}, {blocks}, {128}, 0,
               Arguments(x, gamma, mean, rstd, dy, dx, rows, cols));
    run.launch({"layernorm", "layernorm_backward_parameters"}, {blocks_for(cols, 128)}, {128}, 0,
               Arguments(x, mean, rstd, dy, dgamma, dbeta, rows, cols));
    if (!run.verify()) return;
    check_gradients(run, rows_layout(rows, cols), x, gamma, dy, dx, dgamma, dbeta);
}

void batch_norm(Run& run) {
    const int n = run["n"], channels = run["channels"], inner = run["inner"];
    const int size = run.count({n, channels, inner});
    const auto x = run.uniform(size), gamma = run.uniform(channels), beta = run.uniform(channels);
    const auto mean = run.uniform(channels), variance = run.uniform(channels, 0.5f, 2.0f);
    const auto y = run.zeros<float>(size);
    run.launch_over({"batch_norm", "batch_norm"}, size,
                    Arguments(x, gamma, beta, mean, variance, y, n, channels, inner, kEpsilon));
    run.check("y", y, 8, [&](int i) {
        const int c = i / inner % channels;
        const double v = x.view()[i], m = mean.view()[c], g = gamma.view()[c], b = beta.view()[c];
        const double rstd = 1 / std::sqrt(double{variance.view()[c]} + kEpsilon);
        return Expected{(v - m) * rstd * g + b,
                        (std::abs(v) + std::abs(m)) * rstd * std::abs(g) + std::abs(b)};
    });
}

void batch_norm_training(Run& run) {
    const int n = run["n"], channels = run["channels"], inner = run["inner"];
    const int size = run.count({n, channels, inner});
    const auto x = run.uniform(size), gamma = run.uniform(channels), beta = run.uniform(channels);
    const auto y = run.zeros<float>(size), mean = run.zeros<float>(channels);
    const auto rstd = run.zeros<float>(channels), running_mean = run.zeros<float>(channels);
    const auto running_variance = run.uniform(channels, 0.5f, 2.0f);
    const std::vector<double> before(running_variance.view().begin(),
                                     running_variance.view().end());
    run.launch({"batch_norm", "batch_norm_training"}, {static_cast<unsigned>(channels)}, {128}, 0,
               Arguments(x, gamma, beta, y, mean, rstd, running_mean, running_variance, n, channels,
                         inner, kEpsilon, kMomentum));
    if (!run.verify()) return;
    Layout layout = channels_layout(n, channels, inner);
    check_normalised(run, layout, x, gamma, beta, y);
    for (Group& group : layout.groups) group.measure(x);
    const double count = double(n) * inner;
    run.check("running_mean", running_mean, 8 + count, [&](int c) {
        return Expected{kMomentum * layout.groups[c].mean, kMomentum};
    });
    run.check("running_variance", running_variance, 8 + count, [&](int c) {
        const double unbiased = layout.groups[c].variance * count / std::max(count - 1, 1.0);
        return Expected{before[c] + kMomentum * (unbiased - before[c]), before[c] + unbiased};
    });
}

void batch_norm_backward(Run& run) {
    const int n = run["n"], channels = run["channels"], inner = run["inner"];
    const int size = run.count({n, channels, inner});
    const auto x = run.uniform(size), gamma = run.uniform(channels), dy = run.uniform(size);
    const auto mean = run.zeros<float>(channels), rstd = run.zeros<float>(channels);
    const auto dx = run.zeros<float>(size), dgamma = run.zeros<float>(channels);
    const auto dbeta = run.zeros<float>(channels);
    Layout layout = channels_layout(n, channels, inner);
    for (int c = 0; c < channels; ++c) {
        Group group = layout.groups[c];
        group.measure(x);
        mean.view()[c] = static_cast<float>(group.mean);
        rstd.view()[c] = static_cast<float>(group.rstd);
    }
    run.launch({"batch_norm", "batch_norm_backward"}, {static_cast<unsigned>(channels)}, {128}, 0,
               Arguments(x, gamma, mean, rstd, dy, dx, dgamma, dbeta, n, channels, inner));
    if (!run.verify()) return;
    check_gradients(run, std::move(layout), x, gamma, dy, dx, dgamma, dbeta);
}

}  // namespace

std::vector<Workload> normalisation_workloads() {
    const std::vector<ParameterInfo> matrix = {size_parameter("rows", 256, "rows, each normalised"),
                                               size_parameter("cols", 256, "features")};
    const std::vector<ParameterInfo> images = {
        size_parameter("n", 8, "images"),
        size_parameter("channels", 16, "channels, each normalised"),
        size_parameter("inner", 196, "height * width"),
    };
    return {
        {"layernorm", "layer normalisation of rows", matrix, layernorm},
        {"layernorm_backward", "layernorm and all its gradients", matrix, layernorm_backward},
        {"batch_norm", "batch normalisation with given statistics", images, batch_norm},
        {"batch_norm_training", "batch normalisation that measures the batch", images,
         batch_norm_training},
        {"batch_norm_backward", "its gradients", images, batch_norm_backward},
    };
}

}  // namespace lockstep::cuda
