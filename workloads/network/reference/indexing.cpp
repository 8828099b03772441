// SPDX-License-Identifier: Apache-2.0
// Elements taken and put by computed indices; a negative index counts from the end. Source: the
// ONNX operator reference.
#include <algorithm>
#include <numeric>

#include "sim/error/error.h"
#include "workloads/network/reference/array.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::reference {

namespace {

std::int64_t checked(const Node& node, std::int64_t index, std::int64_t extent) {
    if (index < -extent || index >= extent)
        throw InputError(fmt::format("node {} ({}): index {} of {}", node.name, name_of(node.op),
                                     index, extent));
    return index < 0 ? index + extent : index;
}

template <class T>
void put(const Node& node, T& place, T update) {
    const std::string reduction = node.text("reduction", "none");
    if (reduction == "add")
        place = static_cast<T>(place + update);
    else if (reduction == "mul")
        place = static_cast<T>(place * update);
    else
        place = update;
}

/// Calls f(i, offset): element i of the indices stands for the element of data at the offset.
template <class Real, class F>
void each_element(const Step<Real>& step, F&& f) {
    const Shape &data = step.in[0]->shape, &indices = step.in[1]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", 0), data.size());
    std::vector<std::int64_t> strides = strides_of(data);
    const std::int64_t along = strides[axis];
    strides[axis] = 0;
    for_each(indices, strides, 0, [&](std::size_t i, std::size_t offset) {
        const std::int64_t index = checked(step.node, step.in[1]->integer[i], data[axis]);
        f(i, offset + static_cast<std::size_t>(index * along));
    });
}

/// Calls f(i, offset, count): index i stands for `count` elements of data from the offset.
template <class Real, class F>
void each_slice(const Step<Real>& step, std::int64_t batch, F&& f) {
    const Shape &data = step.in[0]->shape, &indices = step.in[1]->shape;
    const auto depth = static_cast<std::size_t>(indices.back()),
               skip = static_cast<std::size_t>(batch);
    const std::vector<std::int64_t> strides = strides_of(data);
    const Shape rest(data.begin() + static_cast<std::int64_t>(skip + depth), data.end());
    const Shape batches(data.begin(), data.begin() + batch);
    const auto count = static_cast<std::size_t>(element_count(rest));
    const std::size_t all = step.in[1]->integer.size() / depth;
    const auto lots = static_cast<std::size_t>(element_count(batches));
    for (std::size_t i = 0; i < all; ++i) {
        std::size_t offset =
            batch == 0 ? 0 : i / (all / lots) * static_cast<std::size_t>(strides[skip - 1]);
        for (std::size_t d = 0; d < depth; ++d)
            offset += static_cast<std::size_t>(
                checked(step.node, step.in[1]->integer[i * depth + d], data[skip + d]) *
                strides[skip + d]);
        f(i, offset, count);
    }
}

template <class Real, class T>
void top(const Step<Real>& step) {
    const Shape &in = step.in[0]->shape, &out = step.out[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", -1), in.size());
    const bool largest = step.node.integer("largest", 1) != 0;
    const std::vector<T>& x = step.in[0]->template values<T>();
    std::int64_t after = 1, before = 1;
    for (std::size_t d = 0; d < in.size(); ++d)
        (d < axis ? before : after) *= d == axis ? 1 : in[d];
    std::vector<std::int64_t> order(static_cast<std::size_t>(in[axis]));
    for (std::int64_t i = 0; i < before * after; ++i) {
        const std::int64_t from = i / after * in[axis] * after + i % after,
                           to = i / after * out[axis] * after + i % after;
        const auto at = [&](std::int64_t j) {
            return x[static_cast<std::size_t>(from + j * after)];
        };
        std::iota(order.begin(), order.end(), 0);
        // Of equal ones the first. A NaN is the largest, so that this is an order.
        const auto less = [](T a, T b) { return a < b || (a == a && b != b); };
        std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
            return largest ? less(at(b), at(a)) : less(at(a), at(b));
        });
        for (std::int64_t j = 0; j < out[axis]; ++j) {
            const auto place = static_cast<std::size_t>(to + j * after);
            const std::int64_t index = order[static_cast<std::size_t>(j)];
            step.out[0]->template values<T>()[place] = at(index);
            if (step.out.size() > 1 && step.out[1] != nullptr) step.out[1]->integer[place] = index;
        }
    }
}

template <class Real, class T>
bool run(const Step<Real>& step) {
    const Node& node = step.node;
    std::vector<T>& out = step.out[0]->template values<T>();
    const std::vector<T>& data = step.in[0]->template values<T>();
    switch (node.op) {
        case Operator::kGatherElements:
            each_element(step, [&](std::size_t i, std::size_t offset) { out[i] = data[offset]; });
            return true;
        case Operator::kScatterElements:
            out = data;
            each_element(step, [&](std::size_t i, std::size_t offset) {
                put(node, out[offset], step.in[2]->template values<T>()[i]);
            });
            return true;
        case Operator::kGatherND:
            each_slice(step, node.integer("batch_dims", 0),
                       [&](std::size_t i, std::size_t offset, std::size_t count) {
                           for (std::size_t j = 0; j < count; ++j)
                               out[i * count + j] = data[offset + j];
                       });
            return true;
        case Operator::kScatterND:
            out = data;
            each_slice(step, 0, [&](std::size_t i, std::size_t offset, std::size_t count) {
                for (std::size_t j = 0; j < count; ++j)
                    put(node, out[offset + j], step.in[2]->template values<T>()[i * count + j]);
            });
            return true;
        case Operator::kTopK:
            top<Real, T>(step);
            return true;
        default:
            return false;
    }
}

}  // namespace

template <class Real>
bool run_indexing(const Step<Real>& step) {
    if (step.in.empty() || step.in[0] == nullptr || step.out.empty() || step.out[0] == nullptr)
        return false;
    return is_floating(step.in[0]->type) ? run<Real, Real>(step) : run<Real, std::int64_t>(step);
}

template bool run_indexing(const Step<float>&);
template bool run_indexing(const Step<double>&);

}  // namespace lockstep::network::reference
