// SPDX-License-Identifier: Apache-2.0
// Maximum and average pooling and their gradients.
#include <limits>

#include "workloads/cuda/builtin/all.h"
#include "workloads/cuda/builtin/window.h"
#include "workloads/cuda/run.h"

namespace lockstep::cuda {
namespace {

struct Shape : Window {
    int planes, x_size, y_size;
    explicit Shape(const Run& run) : Window(run), planes(run["planes"]) {
        x_size = run.count({planes, h, w});
        y_size = run.count({planes, oh, ow});
    }
    // Calls visit(index in x, index in its plane) for each input of output y.
    template <class Visit>
    void for_each_input(int y, Visit visit) const {
        const int plane = y / (ow * oh);
        for (int tap = 0; tap < r * s; ++tap) {
            const int row = input_row(y / ow % oh, tap / s), col = input_col(y % ow, tap % s);
            if (row >= 0 && col >= 0) visit((plane * h + row) * w + col, row * w + col);
        }
    }
};

template <class... Arrays>
Arguments arguments(const Shape& p, const Arrays&... arrays) {
    return Arguments(arrays..., p.planes, p.h, p.w, p.r, p.s, p.oh, p.ow, p.stride, p.pad);
}

// The place in its plane of each window's first maximum.
std::vector<int> maxima(const Shape& p, const Array<float>& x) {
    std::vector<int> index(p.y_size);
    for (int y = 0; y < p.y_size; ++y) {
        float best = -std::numeric_limits<float>::max();
        p.for_each_input(y, [&](int at, int place) {
            if (x.view()[at] > best) {
                best = x.view()[at];
                index[y] = place;
            }
        });
    }
    return index;
}

void max_pool2d(Run& run) {
    const Shape p(run);
    const auto x = run.uniform(p.x_size), y = run.zeros<float>(p.y_size);
    const auto index = run.zeros<int>(p.y_size);
    run.launch_over({"pooling", "max_pool2d"}, p.y_size, arguments(p, x, y, index));
    if (!run.verify()) return;
    const auto expected = maxima(p, x);
    run.check_exact("index", index, [&](int i) { return expected[i]; });
    run.check_bits("y", y,
                   [&](int i) { return x.view()[i / (p.ow * p.oh) * p.h * p.w + expected[i]]; });
}

void max_pool2d_backward(Run& run) {
    const Shape p(run);
    const auto x = run.uniform(p.x_size), dy = run.uniform(p.y_size);
    const auto dx = run.zeros<float>(p.x_size);
    const auto index = run.zeros<int>(p.y_size);
    const auto where = maxima(p, x);
    std::copy(where.begin(), where.end(), index.view().begin());
    run.launch_over({"pooling", "max_pool2d_backward"}, p.x_size, arguments(p, dy, index, dx));
    if (!run.verify()) return;
    std::vector<ReferenceSum> sums(p.x_size);
    for (int i = 0; i < p.y_size; ++i) {
        sums[i / (p.ow * p.oh) * p.h * p.w + where[i]].add(dy.view()[i]);
    }
    run.check("dx", dx, p.r * p.s, [&](int i) { return sums[i]; });
}

void average_pool2d(Run& run) {
    const Shape p(run);
    const auto x = run.uniform(p.x_size), y = run.zeros<float>(p.y_size);
    run.launch_over({"pooling", "average_pool2d"}, p.y_size, arguments(p, x, y));
    run.check("y", y, p.r * p.s + 2.0, [&](int i) {
        ReferenceSum sum;
        int count = 0;
        p.for_each_input(i, [&](int at, int) {
            sum.add(x.view()[at]);
            ++count;
        });
        return Expected{sum.value / count, sum.magnitude / count};
    });
}

void average_pool2d_backward(Run& run) {
    const Shape p(run);
    const auto dy = run.uniform(p.y_size), dx = run.zeros<float>(p.x_size);
    run.launch_over({"pooling", "average_pool2d_backward"}, p.x_size, arguments(p, dy, dx));
    if (!run.verify()) return;
    std::vector<ReferenceSum> sums(p.x_size);
    for (int i = 0; i < p.y_size; ++i) {
        int count = 0;
        p.for_each_input(i, [&](int, int) { ++count; });
        p.for_each_input(i, [&](int at, int) { sums[at].add(double{dy.view()[i]} / count); });
    }
    run.check("dx", dx, p.r * p.s + 2.0, [&](int i) { return sums[i]; });
}

}  // namespace

std::vector<Workload> pooling_workloads() {
    std::vector<ParameterInfo> parameters = {
        size_parameter("planes", 32, "images * channels"),
        size_parameter("h", 28, "height of the input"),
        size_parameter("w", 28, "width of the input"),
    };
    for (const ParameterInfo& p : window_parameters(2, 2, 0)) parameters.push_back(p);
    return {
        {"max_pool2d", "maximum pooling", parameters, max_pool2d},
        {"max_pool2d_backward", "gradient of max_pool2d", parameters, max_pool2d_backward},
        {"average_pool2d", "average pooling", parameters, average_pool2d},
        {"average_pool2d_backward", "gradient of average_pool2d", parameters,
         average_pool2d_backward},
    };
}

}  // namespace lockstep::cuda
