// SPDX-License-Identifier: Apache-2.0
// Output extent = floor or ceil((input + pads - dilated kernel) / stride) + 1. With ceil_mode, a
// window that would start in the padding after the input is dropped, as PyTorch does and ONNX
// specifies since opset 19. Source: the ONNX operator reference, Conv, MaxPool, AveragePool.
#include "workloads/network/shapes/window.h"

#include <algorithm>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"

namespace lockstep::network {

namespace {

/// Extents are bounded so that no sum or product of two overflows.
constexpr std::int64_t kMaximumExtent = std::int64_t{1} << 30;

std::vector<std::int64_t> list(const Node& node, std::string_view attribute, std::size_t count,
                               std::int64_t otherwise, std::int64_t minimum) {
    std::vector<std::int64_t> values =
        node.integers(attribute, std::vector<std::int64_t>(count, otherwise));
    if (values.size() != count)
        throw InputError(fmt::format("node {}: {} has {} values, not {}", node.name, attribute,
                                     values.size(), count));
    for (const std::int64_t value : values)
        if (value < minimum || value > kMaximumExtent)
            throw InputError(fmt::format("node {}: {} holds {}", node.name, attribute, value));
    return values;
}

/// Output extents of the automatic paddings, and the paddings that give them.
void pad_automatically(const std::string& mode, const Shape& input, SlidingWindow& window) {
    for (std::size_t d = 0; d < window.kernel.size(); ++d) {
        const std::int64_t extent = input[d + 2];
        const std::int64_t reach = (window.kernel[d] - 1) * window.dilation[d] + 1;
        window.pad_begin[d] = window.pad_end[d] = 0;
        if (mode == "VALID") continue;
        const std::int64_t out = numerics::divide_up(extent, window.stride[d]);
        const std::int64_t total =
            std::max<std::int64_t>(0, (out - 1) * window.stride[d] + reach - extent);
        window.pad_begin[d] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
        window.pad_end[d] = total - window.pad_begin[d];
    }
}

}  // namespace

bool SlidingWindow::is_spread() const {
    return std::any_of(upsample.begin(), upsample.end(), [](std::int64_t u) { return u != 1; });
}

namespace {

SlidingWindow any_window_of(const Node& node, const Shape& given, const Shape* weight) {
    const auto fail = [&](const std::string& reason) {
        throw InputError(fmt::format("node {} ({}): {}", node.name, name_of(node.op), reason));
    };
    if (given.size() < 3) fail(fmt::format("input {} has no spatial dimension", to_string(given)));
    const std::size_t count = given.size() - 2;
    for (const std::int64_t extent : given)
        if (extent > kMaximumExtent) fail(fmt::format("input {} is too large", to_string(given)));

    SlidingWindow window;
    window.upsample = weight == nullptr ? std::vector<std::int64_t>(count, 1)
                                        : list(node, "upsample", count, 1, 1);
    Shape input = given;  // as the window sees it
    for (std::size_t d = 0; d < count; ++d) {
        if (window.upsample[d] > kMaximumExtent / std::max<std::int64_t>(1, input[d + 2]))
            fail(fmt::format("input {} is too large", to_string(given)));
        input[d + 2] = (input[d + 2] - 1) * window.upsample[d] + 1;
    }
    if (weight != nullptr) {
        if (weight->size() != input.size())
            fail(fmt::format("weight {} for input {}", to_string(*weight), to_string(input)));
        window.kernel.assign(weight->begin() + 2, weight->end());
        if (node.has("kernel_shape") && node.integers("kernel_shape") != window.kernel)
            fail("kernel_shape is not the weight's");
    } else {
        if (!node.has("kernel_shape")) fail("kernel_shape is missing");
        window.kernel = list(node, "kernel_shape", count, 1, 1);
    }
    for (const std::int64_t extent : window.kernel)
        if (extent < 1 || extent > kMaximumExtent) fail("empty kernel");
    window.stride = list(node, "strides", count, 1, 1);
    window.dilation = node.op == Operator::kAveragePool ? std::vector<std::int64_t>(count, 1)
                                                        : list(node, "dilations", count, 1, 1);
    const std::vector<std::int64_t> pads = list(node, "pads", 2 * count, 0, 0);
    window.pad_begin.assign(pads.begin(), pads.begin() + static_cast<std::int64_t>(count));
    window.pad_end.assign(pads.begin() + static_cast<std::int64_t>(count), pads.end());
    window.group = weight != nullptr ? node.integer("group", 1) : 1;

    const std::string mode = node.text("auto_pad", "NOTSET");
    if (mode == "VALID" || mode == "SAME_UPPER" || mode == "SAME_LOWER")
        pad_automatically(mode, input, window);
    else if (mode != "NOTSET")
        fail("auto_pad " + mode);

    const bool ceil = weight == nullptr && node.integer("ceil_mode", 0) != 0;
    for (std::size_t d = 0; d < count; ++d) {
        const std::int64_t reach = (window.kernel[d] - 1) * window.dilation[d] + 1;
        const std::int64_t room = input[d + 2] + window.pad_begin[d] + window.pad_end[d] - reach;
        if (room < 0) fail(fmt::format("the kernel is larger than input {}", to_string(input)));
        std::int64_t out = (room + (ceil ? window.stride[d] - 1 : 0)) / window.stride[d] + 1;
        if (ceil && (out - 1) * window.stride[d] >= input[d + 2] + window.pad_begin[d]) --out;
        window.output.push_back(out);
    }
    return window;
}

}  // namespace

SlidingWindow window_of(const Node& node, const Shape& input, const Shape* weight) {
    SlidingWindow window = any_window_of(node, input, weight);
    if (window.is_spread())
        throw InputError(fmt::format("node {} ({}): a convolution over a spread image (upsample)",
                                     node.name, name_of(node.op)));
    return window;
}

SlidingWindow spread_window_of(const Node& node, const Shape& input, const Shape& weight) {
    return any_window_of(node, input, &weight);
}

}  // namespace lockstep::network
