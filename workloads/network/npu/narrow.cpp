// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/narrow.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::network::npu_code {

namespace {

bool sees_windows(const Step& step) {
    return step.is_product() || step.opcode == isa::Opcode::kPool;
}

bool goes_by_pixels(const Step& step) {
    return step.opcode == isa::Opcode::kElementwise || step.opcode == isa::Opcode::kSoftmax ||
           step.opcode == isa::Opcode::kLocalResponse;
}

/// What rows are to a window, columns are to this one.
Window turned(const Window& w) {
    return {.height = w.width,
            .stride_height = w.stride_width,
            .dilation_height = w.dilation_width,
            .pad_top = w.pad_left,
            .rows = w.columns,
            .upsample_height = w.upsample_width};
}

/// Windows before the fused pooling that make these columns of the output.
Rows window_columns(const Step& step, Rows out) {
    const FusedPool& pool = step.pool;
    if (pool.mode == isa::PoolMode::kNone) return out;
    return {
        std::max<std::int64_t>(0, out.begin * pool.stride_width - pool.left),
        std::min(step.window.columns, (out.end - 1) * pool.stride_width - pool.left + pool.width)};
}

void take_columns(Part& part, Rows columns) {
    part.column += columns.begin;
    part.box.w = columns.count();
}

/// The step for some columns of its output.
Step columns_of(const Step& step, Rows out) {
    Step part = step;
    part.name = fmt::format("{}[{}:{}]", step.name, out.begin, out.end);
    part.macs = step.macs * out.count() / step.output.box.w;
    take_columns(part.output, out);
    const Rows windows = window_columns(step, out);
    const bool by_pixel =
        step.broadcast == isa::Broadcast::kNone || step.broadcast == isa::Broadcast::kPixel;
    if (step.operand.value != kNoValue && by_pixel) take_columns(part.operand, windows);
    Rows input = windows;
    if (sees_windows(step)) {
        const Window along = turned(step.window);
        input = along.input_rows(windows, step.input.box.w);
        part.window.pad_left = along.pad_above(windows, input);
    }
    take_columns(part.input, input);
    part.window.columns = windows.count();
    if (step.pool.mode != isa::PoolMode::kNone) {
        const FusedPool& pool = step.pool;
        const std::int64_t last = (out.end - 1) * pool.stride_width - pool.left + pool.width;
        part.pool.left = std::max<std::int64_t>(0, pool.left - out.begin * pool.stride_width);
        part.pool.right = std::max<std::int64_t>(0, last - step.window.columns);
    }
    return part;
}

}  // namespace

std::optional<std::pair<Step, Step>> cut_in_width(const Step& step) {
    const std::int64_t width = step.output.box.w;
    const auto has_columns = [](const Part& part) { return part.images.empty(); };
    if (width < 2 || !(sees_windows(step) || goes_by_pixels(step)) || step.on_host ||
        !has_columns(step.input) || !has_columns(step.operand) || !has_columns(step.output))
        return std::nullopt;
    return std::pair{columns_of(step, {0, width / 2}), columns_of(step, {width / 2, width})};
}

}  // namespace lockstep::network::npu_code
