// SPDX-License-Identifier: Apache-2.0
// Convolutions: direct, through im2col and GEMM, depthwise, and their gradients.
#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/builtin/window.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

struct Shape : Window {
    int n, c, k;
    // Sizes of x, y and the weights. Depthwise: each channel has its own filter, k = c.
    int x_size, y_size, weight_size, taps;

    Shape(const Run& run, bool depthwise)
        : Window(run), n(run["n"]), c(run["c"]), k(depthwise ? c : run["k"]) {
        x_size = run.count({n, c, h, w});
        y_size = run.count({n, k, oh, ow});
        taps = depthwise ? r * s : run.count({c, r, s});
        weight_size = run.count({k, taps});
    }
};

// Calls visit(y index, x index, weight index) for every product of the convolution.
template <class Visit>
void for_each_product(const Shape& p, bool depthwise, Visit visit) {
    for (int y = 0; y < p.y_size; ++y) {
        const int filter = y / (p.ow * p.oh) % p.k, image = y / (p.ow * p.oh * p.k);
        const int first = depthwise ? filter : 0, last = depthwise ? filter + 1 : p.c;
        for (int channel = first; channel < last; ++channel) {
            const int base = depthwise ? filter * p.r * p.s : (filter * p.c + channel) * p.r * p.s;
            for (int tap = 0; tap < p.r * p.s; ++tap) {
                const int in_y = p.input_row(y / p.ow % p.oh, tap / p.s);
                const int in_x = p.input_col(y % p.ow, tap % p.s);
                if (in_y < 0 || in_x < 0) continue;
                visit(y, ((image * p.c + channel) * p.h + in_y) * p.w + in_x, base + tap);
            }
        }
    }
}

template <bool depthwise>
Arguments arguments(const Array<float>& a, const Array<float>& b, const Array<float>& out,
                    const Shape& p) {
    if (depthwise) {
        return Arguments(a, b, out, p.n, p.c, p.h, p.w, p.r, p.s, p.oh, p.ow, p.stride, p.pad);
    }
    return Arguments(a, b, out, p.n, p.c, p.h, p.w, p.k, p.r, p.s, p.oh, p.ow, p.stride, p.pad);
}

void check_forward(Run& run, const Shape& p, bool depthwise, const Array<float>& x,
                   const Array<float>& weight, const Array<float>& bias, const Array<float>& y) {
    if (!run.verify()) return;
    std::vector<ReferenceSum> sums(p.y_size);
    if (bias.size != 0) {
        for (int i = 0; i < p.y_size; ++i) sums[i].add(bias.view()[i / (p.ow * p.oh) % p.k]);
    }
    for_each_product(p, depthwise, [&](int out, int in, int tap) {
        sums[out].add(double{x.view()[in]} * weight.view()[tap]);
    });
    run.check("y", y, p.taps + 2.0, [&](int i) { return sums[i]; });
}

template <bool depthwise>
void forward(Run& run) {
    const Shape p(run, depthwise);
    const auto x = run.uniform(p.x_size), weight = run.uniform(p.weight_size);
    const auto bias = run.uniform(p.k), y = run.zeros<float>(p.y_size);
    if (depthwise) {
        run.launch_over({"depthwise_conv2d", "depthwise_conv2d"}, p.y_size,
                        Arguments(x, weight, bias, y, p.n, p.c, p.h, p.w, p.r, p.s, p.oh, p.ow,
                                  p.stride, p.pad));
    } else {
        run.launch_over({"conv2d_direct", "conv2d"}, p.y_size,
                        Arguments(x, weight, bias, y, p.n, p.c, p.h, p.w, p.k, p.r, p.s, p.oh, p.ow,
                                  p.stride, p.pad));
    }
    check_forward(run, p, depthwise, x, weight, bias, y);
}

void im2col_gemm(Run& run) {
    const Shape p(run, false);
    const int pixels = p.oh * p.ow, columns_size = run.count({p.n, p.taps, pixels});
    const auto x = run.uniform(p.x_size), weight = run.uniform(p.weight_size);
    const auto columns = run.zeros<float>(columns_size), y = run.zeros<float>(p.y_size);
    run.launch_over(
        {"im2col", "im2col"}, columns_size,
        Arguments(x, columns, p.n, p.c, p.h, p.w, p.r, p.s, p.oh, p.ow, p.stride, p.pad));
    const std::size_t column_size = std::size_t(p.taps) * pixels,
                      out_size = std::size_t(p.k) * pixels;
    for (int image = 0; image < p.n; ++image) {
        run.launch({"sgemm_transposed", "sgemm_nn"}, {blocks_for(pixels, 64), blocks_for(p.k, 64)},
                   {256}, 0,
                   Arguments(weight, columns.part(image * column_size, column_size),
                             y.part(image * out_size, out_size), p.k, pixels, p.taps, 1.0f, 0.0f));
    }
    check_forward(run, p, false, x, weight, {}, y);
}

template <bool depthwise>
void backward_data(Run& run) {
    const Shape p(run, depthwise);
    const auto dy = run.uniform(p.y_size), weight = run.uniform(p.weight_size);
    const auto dx = run.zeros<float>(p.x_size);
    run.launch_over(depthwise ? KernelName{"depthwise_conv2d", "depthwise_conv2d_backward_data"}
                              : KernelName{"conv2d_direct", "conv2d_backward_data"},
                    p.x_size, arguments<depthwise>(dy, weight, dx, p));
    if (!run.verify()) return;
    std::vector<ReferenceSum> sums(p.x_size);
    for_each_product(p, depthwise, [&](int out, int in, int tap) {
        sums[in].add(double{dy.view()[out]} * weight.view()[tap]);
    });
    run.check("dx", dx, double(p.k) * p.r * p.s + 2, [&](int i) { return sums[i]; });
}

template <bool depthwise>
void backward_weights(Run& run) {
    const Shape p(run, depthwise);
    const auto x = run.uniform(p.x_size), dy = run.uniform(p.y_size);
    const auto dweight = run.zeros<float>(p.weight_size);
    if (depthwise) {
        run.launch({"depthwise_conv2d", "depthwise_conv2d_backward_weights"},
                   {static_cast<unsigned>(p.weight_size)}, {128}, 0,
                   arguments<depthwise>(x, dy, dweight, p));
    } else {
        run.launch({"conv2d_direct", "conv2d_backward_weights"}, {blocks_for(p.weight_size, 32)},
                   {32, 8}, 0, arguments<depthwise>(x, dy, dweight, p));
    }
    if (!run.verify()) return;
    std::vector<ReferenceSum> sums(p.weight_size);
    for_each_product(p, depthwise, [&](int out, int in, int tap) {
        sums[tap].add(double{x.view()[in]} * dy.view()[out]);
    });
    run.check("dweight", dweight, double(p.n) * p.oh * p.ow + 2, [&](int i) { return sums[i]; });
}

}  // namespace

std::vector<Workload> convolution_workloads() {
    const auto parameters = [](bool depthwise) {
        std::vector<ParameterInfo> list = {size_parameter("n", 2, "images"),
                                           size_parameter("h", 28, "height of the input"),
                                           size_parameter("w", 28, "width of the input"),
                                           size_parameter("c", 8, "channels of the input")};
        if (!depthwise) list.push_back(size_parameter("k", 16, "filters"));
        for (const ParameterInfo& p : window_parameters(3, 1, 1)) list.push_back(p);
        return list;
    };
    const auto full = parameters(false), depthwise = parameters(true);
    return {
        {"conv2d", "direct convolution with bias", full, forward<false>},
        {"conv2d_im2col", "convolution as im2col and GEMM", full, im2col_gemm},
        {"conv2d_backward_data", "gradient of conv2d's input", full, backward_data<false>},
        {"conv2d_backward_weights", "gradient of conv2d's weights", full, backward_weights<false>},
        {"depthwise_conv2d", "depthwise convolution with bias", depthwise, forward<true>},
        {"depthwise_conv2d_backward_data", "gradient of its input", depthwise, backward_data<true>},
        {"depthwise_conv2d_backward_weights", "gradient of its weights", depthwise,
         backward_weights<true>},
    };
}

}  // namespace lockstep::cuda
