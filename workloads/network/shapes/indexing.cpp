// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators that take or put elements by computed indices, after the ONNX operator
// reference.
#include "workloads/network/shapes/rule.h"

namespace lockstep::network::shapes {

namespace {

void require_indices(const Rule& r) {
    r.require(r.type(1) == ElementType::kInt64 || r.type(1) == ElementType::kInt32,
              fmt::format("indices of type {}", name_of(r.type(1))));
}

/// What one index of a GatherND or ScatterND stands for.
Shape slice_of(const Rule& r, std::int64_t batch) {
    const Shape &data = r.in(0), &indices = r.in(1);
    require_indices(r);
    r.require(!data.empty() && !indices.empty() && batch >= 0 &&
                  batch < static_cast<std::int64_t>(std::min(data.size(), indices.size())),
              fmt::format("indices {} of {}", to_string(indices), to_string(data)));
    r.require(
        indices.back() >= 1 && indices.back() <= static_cast<std::int64_t>(data.size()) - batch,
        fmt::format("indices {} of {}", to_string(indices), to_string(data)));
    for (std::int64_t d = 0; d < batch; ++d)
        r.require(data[static_cast<std::size_t>(d)] == indices[static_cast<std::size_t>(d)],
                  "batches of different extents");
    return {data.begin() + batch + indices.back(), data.end()};
}

}  // namespace

void infer_gather_elements(const Rule& r) {
    const Shape &data = r.in(0), &indices = r.in(1);
    require_indices(r);
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), data.size());
    r.require(indices.size() == data.size(), "indices " + to_string(indices));
    for (std::size_t d = 0; d < data.size(); ++d)
        r.require(d == axis || indices[d] <= data[d], "indices " + to_string(indices));
    r.set(0, r.type(0), indices);
}

void infer_scatter_elements(const Rule& r) {
    infer_gather_elements(r);
    r.require_type(2, 0);
    r.require(r.in(2) == r.in(1), "updates " + to_string(r.in(2)));
    const std::string reduction = r.node.text("reduction", "none");
    r.require(reduction == "none" || reduction == "add" || reduction == "mul",
              "reduction " + reduction + " is not supported");
    r.set(0, r.type(0), r.in(0));
}

void infer_gather_nd(const Rule& r) {
    const Shape slice = slice_of(r, r.node.integer("batch_dims", 0));
    Shape out(r.in(1).begin(), r.in(1).end() - 1);
    out.insert(out.end(), slice.begin(), slice.end());
    r.set(0, r.type(0), out);
}

void infer_scatter_nd(const Rule& r) {
    const Shape slice = slice_of(r, 0);
    Shape updates(r.in(1).begin(), r.in(1).end() - 1);
    updates.insert(updates.end(), slice.begin(), slice.end());
    r.require_type(2, 0);
    r.require(r.in(2) == updates, "updates " + to_string(r.in(2)));
    const std::string reduction = r.node.text("reduction", "none");
    r.require(reduction == "none" || reduction == "add" || reduction == "mul",
              "reduction " + reduction + " is not supported");
    r.set(0, r.type(0), r.in(0));
}

void infer_top_k(const Rule& r) {
    Shape out = r.in(0);
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", -1), out.size());
    const std::vector<std::int64_t> count = known_integers(r.graph, r.node, 1);
    r.require(count.size() == 1 && count[0] >= 0 && count[0] <= out[axis],
              fmt::format("{} of {} elements", to_string(count), out[axis]));
    out[axis] = count[0];
    r.set(0, r.type(0), out);
    r.set(1, ElementType::kInt64, out);
}

}  // namespace lockstep::network::shapes
