// SPDX-License-Identifier: Apache-2.0
// A network as the steps that an NPU does in one command each: a product with all that is fused to
// it, or another operator. Values are images [n][h][w][c] whatever the graph calls their
// dimensions: of rank 4 they are NCHW there, else rows of the last dimension.
#pragma once

#include <string>
#include <vector>

#include "isa/npu/enums.h"
#include "isa/npu/footprint.h"
#include "sim/numerics/fixed_point.h"
#include "sim/numerics/resize.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network::npu_code {

namespace isa = lockstep::npu;

/// Dense: pixels after each other, rows after each other, images after each other.
struct Layout {
    std::int64_t n = 1, h = 1, w = 1, c = 1;
    isa::ElementType type = isa::ElementType::kInt8;
    std::uint64_t channel_bytes(std::int64_t channels) const {
        return isa::packed_bytes(static_cast<std::uint64_t>(channels), type);
    }
    std::uint64_t pixel() const { return channel_bytes(c); }
    std::uint64_t row() const { return static_cast<std::uint64_t>(w) * pixel(); }
    std::uint64_t image() const { return static_cast<std::uint64_t>(h) * row(); }
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(n) * image(); }
    bool operator==(const Layout&) const = default;
};

/// A part of a value: a box of it, as a step sees it.
struct Part {
    ValueId value = kNoValue;  ///< that has a place of its own
    Layout whole;              ///< of that value, as this part sees it
    Layout box;
    std::int64_t row = 0, column = 0, channel = 0;  ///< where the box begins in each image
    /// Where images of one column lie anywhere: the first byte of each, and bytes from row to row.
    std::vector<std::uint64_t> images = {};
    std::uint64_t pitch = 0;
    bool is_whole() const { return whole == box && images.empty(); }
    bool operator==(const Part&) const = default;
};

/// Output rows to the rows that they are made of.
struct Rows {
    std::int64_t begin = 0, end = 0;
    std::int64_t count() const { return end - begin; }
    bool operator==(const Rows&) const = default;
};

struct Window {
    std::int64_t height = 1, width = 1, stride_height = 1, stride_width = 1;
    std::int64_t dilation_height = 1, dilation_width = 1, pad_top = 0, pad_left = 0;
    /// Windows, before a fused pooling.
    std::int64_t rows = 1, columns = 1;
    /// Positions that the window slides over for each element of the input, the first not zero.
    std::int64_t upsample_height = 1, upsample_width = 1;
    /// The rows of an image of `limit` rows that these rows of windows see.
    Rows input_rows(Rows windows, std::int64_t limit) const;
    std::int64_t reach() const { return (height - 1) * dilation_height + 1; }
    bool is_pointwise() const;
    /// What is missing above the first of these input rows, for these rows of windows.
    std::int64_t pad_above(Rows windows, Rows input) const;
};

struct FusedPool {
    isa::PoolMode mode = isa::PoolMode::kNone;
    std::int64_t height = 1, width = 1, stride_height = 1, stride_width = 1;
    std::int64_t top = 0, left = 0, bottom = 0, right = 0;
};

struct Step {
    std::string name;
    std::vector<std::size_t> nodes;
    isa::Opcode opcode = isa::Opcode::kConvolve;
    Part input, operand, output;  ///< operand.value: kNoValue where there is none
    Window window;
    FusedPool pool;

    // Products. Weights are [output][tap][input of a group]; none where there are no values.
    std::int64_t groups = 1;
    std::uint64_t weight_count = 0;
    std::vector<std::int16_t> weights;
    isa::ElementType weight_type = isa::ElementType::kInt8;
    std::vector<std::int32_t> bias;
    std::vector<numerics::FixedPointScale> scales;  ///< one, or one an output channel
    std::int64_t macs = 0;                          ///< without padding of any kind

    // What is done with a value on its way out.
    std::int32_t input_zero = 0, operand_zero = 0, output_zero = 0;
    std::int32_t sum_zero = 0, sum_low = -128, sum_high = 127;
    isa::Combine combine = isa::Combine::kNone;
    isa::Broadcast broadcast = isa::Broadcast::kNone;
    numerics::AdditionScales addition;
    numerics::FixedPointScale result{1 << 30, 30};
    isa::TableAt table_at = isa::TableAt::kNone;
    std::vector<std::uint8_t> table;
    std::int32_t low = -128, high = 127;

    isa::PoolMode pooling = isa::PoolMode::kNone;  ///< of a pooling by itself
    std::vector<std::uint8_t> parameters;          ///< of a mean, a local response
    numerics::SoftmaxScale softmax;
    std::uint32_t before = 0, after = 0;  ///< neighbours of a local response
    isa::Interpolation interpolation = isa::Interpolation::kNearest;

    bool on_host = false;

    bool transposed = false;  ///< of a product of values: the operand has a row an output channel

    /// Of two values.
    bool is_matrix_product() const { return opcode == isa::Opcode::kMatrixMultiply; }
    bool is_product() const {
        return opcode == isa::Opcode::kConvolve || opcode == isa::Opcode::kDepthwise;
    }
    std::int64_t output_channels() const { return output.box.c; }
    /// Of a resized image: where its rows come from.
    numerics::ResizeAxis resize_axis() const;
    /// The rows of windows that make these rows of the output.
    Rows window_rows(Rows out) const;
    Rows input_rows(Rows out) const;
    /// The rows of the operand for these of the output.
    Rows operand_rows(Rows out) const {
        return is_matrix_product() ? Rows{0, operand.box.h} : window_rows(out);
    }
    /// Bytes of a table, or the parameters, that it needs in the SRAM beside weights.
    std::uint64_t constant_bytes() const { return table.size() + parameters.size(); }
};

}  // namespace lockstep::network::npu_code
