// SPDX-License-Identifier: Apache-2.0
// Layers as kernel launches. Backend is the CUDA runtime or a Device (see README.md):
// allocate<T>(n) gives zeroed device memory, upload and download copy, launch(kernel, grid, block,
// arguments...) runs one of workloads/cuda/kernels.
#pragma once

#include <algorithm>
#include <vector>

#include "workloads/cuda/kernel_name.h"
#include "workloads/cuda/train/weights.h"

// The kernel itself where nvcc compiles this, else the name by which a Device finds it.
#ifdef __CUDACC__
#define LOCKSTEP_KERNEL(file, kernel) (::kernel)
#else
#define LOCKSTEP_KERNEL(file, kernel) (::lockstep::cuda::KernelName{#file, #kernel})
#endif

namespace lockstep::cuda {

struct Extent {
    unsigned x = 1, y = 1, z = 1;
};

inline unsigned ceil_div(int a, int b) {
    return static_cast<unsigned>((a + b - 1) / b);
}

struct Parameter {
    float *value, *gradient, *velocity;
    int count;
};

template <class Backend>
Parameter make_parameter(Backend& backend, const Weights& initial) {
    const int count = static_cast<int>(initial.values.size());
    Parameter p{backend.template allocate<float>(count), backend.template allocate<float>(count),
                backend.template allocate<float>(count), count};
    backend.upload(p.value, initial.values.data(), count);
    return p;
}

template <class Backend>
void update(Backend& backend, const Parameter& p, const TrainOptions& options) {
    backend.launch(LOCKSTEP_KERNEL(sgd, sgd), Extent{std::min(ceil_div(p.count, 256), 1024u)},
                   Extent{256}, p.gradient, p.value, p.velocity, p.count, options.rate,
                   options.momentum, 0.0f);
}

template <class Backend>
void relu(Backend& backend, const float* x, float* y, int count) {
    backend.launch(LOCKSTEP_KERNEL(relu, relu), Extent{ceil_div(count, 256)}, Extent{256}, x, y,
                   count);
}

template <class Backend>
void relu_backward(Backend& backend, const float* y, const float* dy, float* dx, int count) {
    backend.launch(LOCKSTEP_KERNEL(relu, relu_backward), Extent{ceil_div(count, 256)}, Extent{256},
                   y, dy, dx, count);
}

// y[rows][outputs] = x[rows][inputs] * weight + bias
template <class Backend>
struct Linear {
    Backend& backend;
    Parameter weight, bias;
    int inputs, outputs;

    void forward(const float* x, float* y, int rows) {
        backend.launch(LOCKSTEP_KERNEL(sgemm_transposed, sgemm_nn),
                       Extent{ceil_div(outputs, 64), ceil_div(rows, 64)}, Extent{256}, x,
                       weight.value, y, rows, outputs, inputs, 1.0f, 0.0f);
        backend.launch(LOCKSTEP_KERNEL(bias, bias_add), Extent{ceil_div(rows * outputs, 256)},
                       Extent{256}, y, bias.value, y, rows, outputs, 1);
    }

    void backward_parameters(const float* x, const float* dy, int rows) {
        backend.launch(LOCKSTEP_KERNEL(sgemm_transposed, sgemm_tn),
                       Extent{ceil_div(outputs, 64), ceil_div(inputs, 64)}, Extent{256}, x, dy,
                       weight.gradient, inputs, outputs, rows, 1.0f, 0.0f);
        backend.launch(LOCKSTEP_KERNEL(bias, bias_backward), Extent{static_cast<unsigned>(outputs)},
                       Extent{64}, dy, bias.gradient, rows, outputs, 1);
    }

    void backward_data(const float* dy, float* dx, int rows) {
        backend.launch(LOCKSTEP_KERNEL(sgemm_transposed, sgemm_nt),
                       Extent{ceil_div(inputs, 64), ceil_div(rows, 64)}, Extent{256}, dy,
                       weight.value, dx, rows, inputs, outputs, 1.0f, 0.0f);
    }
};

// y[n][k][out_side][out_side] from x[n][c][side][side], square windows.
template <class Backend>
struct Conv {
    Backend& backend;
    Parameter weight, bias;
    int c, side, k, window, stride, pad;

    int out_side() const { return (side + 2 * pad - window) / stride + 1; }

    void forward(const float* x, float* y, int n) {
        const int out = out_side();
        backend.launch(LOCKSTEP_KERNEL(conv2d_direct, conv2d),
                       Extent{ceil_div(n * k * out * out, 256)}, Extent{256}, x, weight.value,
                       bias.value, y, n, c, side, side, k, window, window, out, out, stride, pad);
    }

    void backward_parameters(const float* x, const float* dy, int n) {
        const int out = out_side();
        backend.launch(LOCKSTEP_KERNEL(conv2d_direct, conv2d_backward_weights),
                       Extent{ceil_div(weight.count, 32)}, Extent{32, 8}, x, dy, weight.gradient, n,
                       c, side, side, k, window, window, out, out, stride, pad);
        backend.launch(LOCKSTEP_KERNEL(bias, bias_backward), Extent{static_cast<unsigned>(k)},
                       Extent{256}, dy, bias.gradient, n, k, out * out);
    }

    void backward_data(const float* dy, float* dx, int n) {
        const int out = out_side();
        backend.launch(LOCKSTEP_KERNEL(conv2d_direct, conv2d_backward_data),
                       Extent{ceil_div(n * c * side * side, 256)}, Extent{256}, dy, weight.value,
                       dx, n, c, side, side, k, window, window, out, out, stride, pad);
    }
};

}  // namespace lockstep::cuda
