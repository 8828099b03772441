// SPDX-License-Identifier: Apache-2.0
// Tiled: dimension i of the box holds ceil(box / step) elements, `step` apart (CUDA driver API,
// cuTensorMapEncodeTiled). im2col: a column of pixels, starting at the coordinates and moving by
// the steps within the box of positions that the corners leave, W first; what is copied lies
// `offset` further, for each filter tap (PTX ISA, im2col mode). Interleaved (NC/8HWC8 of 2-byte
// channels, 16 bytes a slice; 32 bytes likewise): slices of channels lie a whole plane apart, and
// in shared memory outside of the spatial dimensions as well (the latter assumed).
#include "isa/sass/tma/box.h"

#include <algorithm>

namespace lockstep::sass {

namespace {

constexpr std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) {
    return (a + b - 1) / b;
}

std::uint32_t slice_bytes(const TensorMap& map) {
    return map.interleave == TensorInterleave::k32 ? 32 : 16;
}

struct RowShape {
    std::uint32_t elements, slices;
};

RowShape row_shape(const TensorMap& map) {
    if (map.interleave == TensorInterleave::kNone) return {map.box[0], 1};
    const std::uint32_t channels = slice_bytes(map) / element_bytes(map.type);
    return {channels, divide_up(map.box[0], channels)};
}

std::uint32_t rows_of_slice(const TensorMap& map) {
    if (map.is_im2col) return map.pixels;
    std::uint32_t rows = 1;
    for (unsigned i = 1; i < map.rank; ++i) rows *= divide_up(map.box[i], map.step[i]);
    return rows;
}

}  // namespace

std::uint32_t BoxRows::tile_bytes(const TensorMap& map) {
    const RowShape row = row_shape(map);
    return row.elements * element_bytes(map.type) * row.slices * rows_of_slice(map);
}

BoxRows::BoxRows(const TensorMap& map, const std::array<std::int32_t, kMaxTensorRank>& coordinate,
                 const std::array<std::int32_t, 3>& offset)
    : map_(map),
      element_(element_bytes(map.type)),
      row_elements_(row_shape(map).elements),
      row_bytes_(row_elements_ * element_),
      slices_(row_shape(map).slices),
      offset_(map.is_im2col ? offset : std::array<std::int32_t, 3>{}),
      rows_left_(rows_of_slice(map) * slices_) {
    for (unsigned i = 0; i < map.rank; ++i) {
        start_[i] = at_[i] = coordinate[i];
        count_[i] = divide_up(map.box[i], map.step[i]);
    }
    // Inside of a sample: all positions of the outermost spatial dimension.
    if (slices_ > 1 || map.interleave != TensorInterleave::kNone)
        slice_stride_ = map.stride[map.rank - 3] * map.size[map.rank - 2];
}

/// The next position of a tile. A slice ends where the spatial dimensions do.
void BoxRows::step_tiled() {
    const unsigned outer = map_.rank - 1;
    for (unsigned i = 1; i < map_.rank; ++i) {
        if (slices_ > 1 && i == outer && i > 1) {  // the next slice before the next sample
            if (++slice_ < slices_) return;
            slice_ = 0;
        }
        if (++index_[i] < count_[i]) {
            at_[i] += map_.step[i];
            return;
        }
        index_[i] = 0;
        at_[i] = start_[i];
    }
}

void BoxRows::step_im2col() {
    if (++pixel_ == map_.pixels) {  // the next slice of channels has the same pixels
        pixel_ = 0;
        ++slice_;
        at_ = start_;
        return;
    }
    const unsigned samples = map_.rank - 1;
    for (unsigned i = 1; i < samples; ++i) {
        at_[i] += map_.step[i];
        if (at_[i] < static_cast<std::int64_t>(map_.size[i]) + map_.upper[i - 1]) return;
        at_[i] = map_.lower[i - 1];
    }
    ++at_[samples];
}

bool BoxRows::next(BoxRow& row) {
    if (rows_left_ == 0) return false;
    --rows_left_;
    row.shared = shared_;
    row.bytes = row_bytes_;
    shared_ += row_bytes_;
    std::int64_t address = 0;
    bool is_inside = true;
    for (unsigned i = 1; i < map_.rank; ++i) {
        const std::int64_t at = at_[i] + (map_.is_im2col && i < map_.rank - 1 ? offset_[i - 1] : 0);
        is_inside = is_inside && at >= 0 && at < static_cast<std::int64_t>(map_.size[i]);
        address += at * static_cast<std::int64_t>(map_.stride[i - 1]);
    }
    const std::int64_t from = at_[0] + std::int64_t{slice_} * row_elements_;
    const std::int64_t to = from + row_elements_;
    const std::int64_t begin = std::max<std::int64_t>(from, 0);
    const std::int64_t end = std::min(to, static_cast<std::int64_t>(map_.size[0]));
    if (is_inside && begin < end) {
        row.first = static_cast<std::uint32_t>(begin - from) * element_;
        row.count = static_cast<std::uint32_t>(end - begin) * element_;
        std::int64_t inner = begin * element_;
        if (map_.interleave != TensorInterleave::kNone) {
            inner = begin % row_elements_ * element_;
            address += begin / row_elements_ * static_cast<std::int64_t>(slice_stride_);
        }
        row.global = map_.address + static_cast<std::uint64_t>(address + inner);
    } else {
        row.first = row.count = 0;
        row.global = 0;
    }
    map_.is_im2col ? step_im2col() : step_tiled();
    return true;
}

}  // namespace lockstep::sass
