// SPDX-License-Identifier: Apache-2.0
// Workloads that treat each element by itself: additions, activations, biases, weight updates.
#include <cmath>
#include <numbers>

#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

const ParameterInfo kN = size_parameter("n", 1 << 20, "number of elements");

void vector_add(Run& run) {
    const int n = run["n"];
    const auto a = run.uniform(n), b = run.uniform(n), c = run.zeros<float>(n);
    run.launch_over({"vector_add", "vector_add"}, n, Arguments(a, b, c, n));
    run.check_bits("c", c, [&](int i) { return a.view()[i] + b.view()[i]; });
}

void relu(Run& run) {
    const int n = run["n"];
    const auto x = run.uniform(n), y = run.zeros<float>(n);
    run.launch_over({"relu", "relu"}, n, Arguments(x, y, n));
    run.check_bits("y", y, [&](int i) { return x.view()[i] > 0 ? x.view()[i] : 0.0f; });
}

void relu_backward(Run& run) {
    const int n = run["n"];
    const auto y = run.uniform(n), dy = run.uniform(n), dx = run.zeros<float>(n);
    run.launch_over({"relu", "relu_backward"}, n, Arguments(y, dy, dx, n));
    run.check_bits("dx", dx, [&](int i) { return y.view()[i] > 0 ? dy.view()[i] : 0.0f; });
}

// GELU and its derivative in double; `tanh_form` as the kernels of that name.
double gelu_value(double x, bool tanh_form) {
    if (tanh_form) {
        return 0.5 * x *
               (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    }
    return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
}

double gelu_slope(double x, bool tanh_form) {
    if (tanh_form) {
        const double scale = std::sqrt(2 / std::numbers::pi);
        const double t = std::tanh(scale * (x + 0.044715 * x * x * x));
        return 0.5 * (1 + t + x * (1 - t * t) * scale * (1 + 3 * 0.044715 * x * x));
    }
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * density;
}

// 1 + erf(x) cancels for negative x: the error is relative to x, not to the result.
constexpr double kGeluRoundings = 12;

template <bool tanh_form>
void gelu(Run& run) {
    const int n = run["n"];
    const auto x = run.uniform(n, -4, 4), y = run.zeros<float>(n);
    run.launch_over({"gelu", tanh_form ? "gelu_tanh" : "gelu"}, n, Arguments(x, y, n));
    run.check("y", y, kGeluRoundings, [&](int i) {
        const double v = x.view()[i];
        return Expected{gelu_value(v, tanh_form), std::abs(v)};
    });
}

template <bool tanh_form>
void gelu_backward(Run& run) {
    const int n = run["n"];
    const auto x = run.uniform(n, -4, 4), dy = run.uniform(n), dx = run.zeros<float>(n);
    run.launch_over({"gelu", tanh_form ? "gelu_tanh_backward" : "gelu_backward"}, n,
                    Arguments(x, dy, dx, n));
    run.check("dx", dx, kGeluRoundings, [&](int i) {
        const double v = x.view()[i], d = dy.view()[i];
        return Expected{d * gelu_slope(v, tanh_form), std::abs(d) * (1 + v * v)};
    });
}

const std::vector<ParameterInfo> kChannels = {
    size_parameter("outer", 64, "rows, or images"),
    size_parameter("channels", 128, "features, or channels: one bias each"),
    size_parameter("inner", 16, "1, or height * width"),
};

void bias_add(Run& run) {
    const int outer = run["outer"], channels = run["channels"], inner = run["inner"];
    const int n = run.count({outer, channels, inner});
    const auto x = run.uniform(n), bias = run.uniform(channels), y = run.zeros<float>(n);
    run.launch_over({"bias", "bias_add"}, n, Arguments(x, bias, y, outer, channels, inner));
    run.check_bits("y", y, [&](int i) { return x.view()[i] + bias.view()[i / inner % channels]; });
}

void bias_backward(Run& run) {
    const int outer = run["outer"], channels = run["channels"], inner = run["inner"];
    const auto dy = run.uniform(run.count({outer, channels, inner}));
    const auto dbias = run.zeros<float>(channels);
    run.launch({"bias", "bias_backward"}, {static_cast<unsigned>(channels)}, {128}, 0,
               Arguments(dy, dbias, outer, channels, inner));
    run.check("dbias", dbias, 2.0 + outer * inner, [&](int channel) {
        ReferenceSum sum;
        for (int o = 0; o < outer; ++o) {
            for (int i = 0; i < inner; ++i) {
                sum.add(dy.view()[(std::size_t(o) * channels + channel) * inner + i]);
            }
        }
        return sum;
    });
}

std::vector<double> doubles(const Array<float>& array) {
    return {array.view().begin(), array.view().end()};
}

void sgd(Run& run) {
    const int n = run["n"];
    const float rate = 0.1f, momentum = 0.9f, decay = 0.01f;
    const auto gradient = run.uniform(n), weight = run.uniform(n), velocity = run.uniform(n);
    const auto w = doubles(weight), v = doubles(velocity);
    run.launch_over({"sgd", "sgd"}, n,
                    Arguments(gradient, weight, velocity, n, rate, momentum, decay));
    const auto new_velocity = [&](int i) {
        ReferenceSum sum;
        sum.add(momentum * v[i]);
        sum.add(gradient.view()[i]);
        sum.add(decay * w[i]);
        return sum;
    };
    run.check("velocity", velocity, 4, new_velocity);
    run.check("weight", weight, 6, [&](int i) {
        const ReferenceSum velocity_i = new_velocity(i);
        return Expected{w[i] - rate * velocity_i.value,
                        std::abs(w[i]) + rate * velocity_i.magnitude};
    });
}

void adamw(Run& run) {
    const int n = run["n"], step = run["step"];
    const float rate = 1e-2f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0.01f;
    const float correction1 = 1.0f - std::pow(beta1, static_cast<float>(step));
    const float correction2 = 1.0f - std::pow(beta2, static_cast<float>(step));
    const auto gradient = run.uniform(n), weight = run.uniform(n), m = run.uniform(n);
    const auto v = run.uniform(n, 0.5f, 1.0f);
    const auto w0 = doubles(weight), m0 = doubles(m), v0 = doubles(v);
    run.launch_over({"adamw", "adamw"}, n,
                    Arguments(gradient, weight, m, v, n, rate, beta1, beta2, epsilon, decay,
                              correction1, correction2));
    run.check("weight", weight, 16, [&](int i) {
        const double g = gradient.view()[i];
        const double first = beta1 * m0[i] + (1.0f - beta1) * g;
        const double second = beta2 * v0[i] + (1.0f - beta2) * g * g;
        const double denominator = std::sqrt(second / correction2) + epsilon;
        const double size = (std::abs(beta1 * m0[i]) + std::abs((1.0f - beta1) * g)) / correction1;
        return Expected{w0[i] - rate * (first / correction1 / denominator + decay * w0[i]),
                        std::abs(w0[i]) + rate * size / denominator};
    });
}

}  // namespace

std::vector<Workload> elementwise_workloads() {
    return {
        {"vector_add", "c = a + b", {kN}, vector_add},
        {"relu", "y = max(x, 0)", {kN}, relu},
        {"relu_backward", "gradient of relu", {kN}, relu_backward},
        {"gelu", "GELU with erf", {kN}, gelu<false>},
        {"gelu_backward", "gradient of gelu", {kN}, gelu_backward<false>},
        {"gelu_tanh", "GELU, tanh approximation", {kN}, gelu<true>},
        {"gelu_tanh_backward", "gradient of gelu_tanh", {kN}, gelu_backward<true>},
        {"bias_add", "a bias for each channel", kChannels, bias_add},
        {"bias_backward", "gradient of the bias: sums for each channel", kChannels, bias_backward},
        {"sgd", "one SGD step with momentum and weight decay", {kN}, sgd},
        {"adamw",
         "one AdamW step",
         {kN, size_parameter("step", 10, "number of the step, from 1", 1000000)},
         adamw},
    };
}

}  // namespace lockstep::cuda
