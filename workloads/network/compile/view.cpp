// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/view.h"

#include <algorithm>
#include <numeric>

namespace lockstep::network::compile {

std::vector<std::int64_t> dense_strides(const Shape& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
    return strides;
}

std::vector<std::int64_t> image_strides(const Shape& nchw) {
    const std::int64_t c = nchw.at(1), h = nchw.at(2), w = nchw.at(3);
    return {c * h * w, 1, w * c, c};
}

View view_in_memory_order(const View& view) {
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < view.shape.size(); ++d)
        if (view.shape[d] != 1) order.push_back(d);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return view.strides[a] > view.strides[b];
    });
    View sorted = view;
    sorted.shape.clear();
    sorted.strides.clear();
    for (const std::size_t d : order) {
        sorted.shape.push_back(view.shape[d]);
        sorted.strides.push_back(view.strides[d]);
    }
    if (order.empty()) {
        sorted.shape = {1};
        sorted.strides = {1};
    }
    return sorted;
}

std::vector<std::int64_t> strides_like(const View& view, const Shape& shape) {
    // A dimension of extent 1 lies anywhere: next to the one before it.
    std::vector<std::int64_t> keys(shape.size(), INT64_MAX);
    std::vector<std::size_t> order(shape.size());
    for (std::size_t d = 0; d < shape.size(); ++d) {
        order[d] = d;
        keys[d] = view.shape[d] != 1 ? view.strides[d] : d == 0 ? INT64_MAX : keys[d - 1];
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] > keys[b]; });
    std::vector<std::int64_t> strides(shape.size(), 1);
    std::int64_t stride = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        strides[order[i]] = stride;
        stride *= shape[order[i]];
    }
    return strides;
}

bool is_dense(const View& view) {
    const View sorted = view_in_memory_order(view);
    return sorted.strides == dense_strides(sorted.shape);
}

std::optional<std::vector<RowRange>> row_ranges(const View& view) {
    View p = view;
    if (p.shape.empty()) {
        p.shape = {1};
        p.strides = {1};
    }
    const std::int64_t columns = p.shape.back();
    if (columns != 1 && p.strides.back() != 1) return std::nullopt;
    // The outer dimensions, joined where they follow each other; innermost first.
    std::vector<std::int64_t> extents, strides;
    for (std::size_t d = p.shape.size() - 1; d-- > 0;) {
        if (p.shape[d] == 1) continue;
        if (!extents.empty() && p.strides[d] == strides.back() * extents.back())
            extents.back() *= p.shape[d];
        else {
            extents.push_back(p.shape[d]);
            strides.push_back(p.strides[d]);
        }
    }
    if (extents.empty()) {
        extents.push_back(1);
        strides.push_back(columns);
    }
    std::int64_t count = 1;
    for (std::size_t d = 1; d < extents.size(); ++d) count *= extents[d];
    std::vector<RowRange> result;
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t offset = 0, rest = i;
        for (std::size_t d = 1; d < extents.size(); ++d) {
            offset += rest % extents[d] * strides[d];
            rest /= extents[d];
        }
        result.push_back({offset, extents[0], columns, strides[0]});
    }
    return result;
}

std::optional<View> reshaped_view(const View& view, const Shape& shape) {
    View result;
    result.shape = shape;
    result.strides.assign(shape.size(), 1);
    // Groups of old dimensions that follow each other hold groups of new ones.
    Shape old;
    std::vector<std::int64_t> strides;
    for (std::size_t d = 0; d < view.shape.size(); ++d)
        if (view.shape[d] != 1) {
            old.push_back(view.shape[d]);
            strides.push_back(view.strides[d]);
        }
    std::size_t from = old.size();
    std::int64_t left = 1, stride = 1;  // of the old dimension, or joined ones, in use
    for (std::size_t d = shape.size(); d-- > 0;) {
        std::int64_t need = shape[d];
        if (need == 1) continue;
        if (left == 1) {
            if (from == 0) return std::nullopt;
            --from;
            left = old[from];
            stride = strides[from];
        }
        // Joins further old dimensions while they follow.
        while (left < need || left % need != 0) {
            if (from == 0 || strides[from - 1] != stride * left) return std::nullopt;
            --from;
            left *= old[from];
        }
        result.strides[d] = stride;
        left /= need;
        stride *= need;
    }
    return result;
}

View permuted_view(const View& view, const std::vector<std::int64_t>& perm) {
    View result = view;
    for (std::size_t d = 0; d < perm.size(); ++d) {
        result.shape[d] = view.shape.at(static_cast<std::size_t>(perm[d]));
        result.strides[d] = view.strides.at(static_cast<std::size_t>(perm[d]));
    }
    result.image.clear();
    return result;
}

}  // namespace lockstep::network::compile
