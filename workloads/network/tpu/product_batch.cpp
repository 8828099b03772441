// SPDX-License-Identifier: Apache-2.0
// A batch of products so small that the DMA would take longer to begin with each of their operands
// than to move it: as XLA's kernels have windows over several batches, one transfer brings the left
// operands of many, one the right ones, and one takes the results away.
#include <algorithm>

#include "workloads/network/tpu/product.h"
#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

namespace {

/// A matrix of a batch and those that follow it, as rows of one.
Matrix rows_from(const Place& matrix, std::int64_t count) {
    return {matrix.space,    matrix.address, matrix.type, matrix.shape[0] * count,
            matrix.shape[1], matrix.shape[1]};
}

/// Whether the matrices of a batch follow each other in memory without gaps.
bool follow_each_other(const Place& place, const Shape& batches) {
    if (place.space == tpu::Space::kUnifiedBuffer) return false;
    const Place first = matrix_of(place, batches, 0);
    if (first.strides[1] != 1 || first.strides[0] != first.shape[1]) return false;
    for (std::int64_t i = 1; i < element_count(batches); ++i)
        if (matrix_of(place, batches, i).address != first.address + first.bytes() * i) return false;
    return true;
}

}  // namespace

std::int64_t ProductLowering::products_together(const Batch& batch) const {
    const std::int64_t count = element_count(batch.batches);
    if (!c_.has_memory() || count == 1 || taken_ != nullptr || made_ != nullptr ||
        epilogue_.parameter_words() != 0 || epilogue_.addend != kNoValue)
        return 1;
    const auto bytes = [&](const Place& place) {
        return matrix_of(place, batch.batches, 0).bytes();
    };
    const std::uint64_t read = bytes(batch.left) + bytes(batch.right);
    if (!is_small_for_dma(c_, read)) return 1;
    for (const Place* place : {&batch.left, &batch.right, &batch.result})
        if (!follow_each_other(*place, batch.batches)) return 1;
    // Windows as of one product's rows (window_bytes()); one is loaded while another is computed.
    constexpr std::uint64_t kWindows = 8, kLeast = 256 << 10;
    const std::uint64_t all = read + bytes(batch.result),
                        window =
                            std::max(all * static_cast<std::uint64_t>(count) / kWindows, kLeast),
                        fits = c_.staging.window_room() / 5;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(window, fits) / all), 1,
                                    count);
}

void ProductLowering::run_together(const Batch& batch, std::int64_t together) {
    const std::int64_t count = element_count(batch.batches);
    struct Window {
        Place left, right;
        BufferRows left_rows, right_rows;
    };
    const auto size_from = [&](std::int64_t first) { return std::min(together, count - first); };
    const auto load = [&](std::int64_t first) {
        Window window;
        const auto stage = [&](const Place& place, Place& to, BufferRows& rows) {
            to = matrix_of(place, batch.batches, first);
            const Matrix all = rows_from(to, size_from(first));
            rows = c_.staging.load(all, 0, all.rows);
            to.space = tpu::Space::kUnifiedBuffer;
            to.address = rows.address;
        };
        stage(batch.left, window.left, window.left_rows);
        stage(batch.right, window.right, window.right_rows);
        return window;
    };
    c_.steps.end_prefetch();
    c_.open_staging();
    Window next = load(0);
    c_.staging.close();
    for (std::int64_t first = 0; first < count; first += together) {
        c_.open_staging();
        Window now = next;
        if (first + together < count) next = load(first + together);
        const std::int64_t size = size_from(first);
        Place result = matrix_of(batch.result, batch.batches, first);
        const Matrix out = rows_from(result, size);
        const BufferRows results = c_.staging.room_for(out, 0, out.rows);
        c_.staging.close();
        result.space = tpu::Space::kUnifiedBuffer;
        result.address = results.address;
        for (std::int64_t i = 0; i < size; ++i) {
            part_ = static_cast<std::size_t>(first + i);
            run_one(now.left, now.right, result, std::nullopt);
            for (Place* place : {&now.left, &now.right, &result}) place->address += place->bytes();
        }
        c_.staging.check_held(now.left_rows);
        c_.staging.check_held(now.right_rows);
        c_.staging.store(results, out, 0, out.rows);
    }
}

}  // namespace lockstep::network::lowering
