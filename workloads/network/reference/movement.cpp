// SPDX-License-Identifier: Apache-2.0
// Operators that move elements and compute nothing: the same code for floating and integer values.
// Source: the ONNX operator reference.
#include <algorithm>

#include "sim/error/error.h"
#include "sim/numerics/fp8.h"
#include "workloads/network/reference/array.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::reference {

namespace {

/// An array as [before, extent, after] around an axis.
struct Split {
    std::int64_t before = 1, after = 1;
    Split(const Shape& shape, std::size_t axis) {
        for (std::size_t i = 0; i < shape.size(); ++i)
            (i < axis ? before : after) *= i == axis ? 1 : shape[i];
    }
};

template <class T>
void copy_block(const std::vector<T>& from, std::int64_t at, std::vector<T>& to,
                std::int64_t target, std::int64_t count) {
    std::copy_n(from.begin() + at, count, to.begin() + target);
}

template <class Real, class T>
void transpose(const Step<Real>& step) {
    const std::vector<std::int64_t> strides = strides_of(step.in[0]->shape);
    std::vector<std::int64_t> perm = step.node.integers("perm"), permuted;
    if (!step.node.has("perm"))
        for (std::size_t i = strides.size(); i > 0; --i)
            perm.push_back(static_cast<std::int64_t>(i - 1));
    for (const std::int64_t p : perm) permuted.push_back(strides[static_cast<std::size_t>(p)]);
    const std::vector<T>& x = step.in[0]->template values<T>();
    std::vector<T>& out = step.out[0]->template values<T>();
    for_each(step.out[0]->shape, permuted, 0, [&](std::size_t i, std::size_t o) { out[i] = x[o]; });
}

template <class Real, class T>
void concat(const Step<Real>& step) {
    const Shape& shape = step.out[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", 0), shape.size());
    const Split split(shape, axis);
    std::int64_t done = 0;
    for (const Array<Real>* part : step.in) {
        const std::int64_t block = part->shape[axis] * split.after;
        for (std::int64_t i = 0; i < split.before; ++i)
            copy_block(part->template values<T>(), i * block, step.out[0]->template values<T>(),
                       i * shape[axis] * split.after + done, block);
        done += block;
    }
}

template <class Real, class T>
void split(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", 0), shape.size());
    const Split around(shape, axis);
    std::int64_t done = 0;
    for (std::size_t n = 0; n < step.out.size(); ++n) {
        const std::int64_t extent = step.graph.shape(step.node.outputs[n])[axis];
        const std::int64_t block = extent * around.after;
        for (std::int64_t i = 0; i < around.before && step.out[n] != nullptr; ++i)
            copy_block(step.in[0]->template values<T>(), i * shape[axis] * around.after + done,
                       step.out[n]->template values<T>(), i * block, block);
        done += block;
    }
}

template <class Real, class T>
void gather(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", 0), shape.size());
    const Split around(shape, axis);
    const std::vector<std::int64_t>& indices = step.in[1]->integer;
    const auto count = static_cast<std::int64_t>(indices.size());
    for (std::int64_t i = 0; i < around.before; ++i)
        for (std::int64_t j = 0; j < count; ++j) {
            std::int64_t index = indices[static_cast<std::size_t>(j)];
            if (index < -shape[axis] || index >= shape[axis])
                throw InputError(fmt::format("node {} (Gather): index {} of {}", step.node.name,
                                             index, shape[axis]));
            if (index < 0) index += shape[axis];
            copy_block(step.in[0]->template values<T>(), (i * shape[axis] + index) * around.after,
                       step.out[0]->template values<T>(), (i * count + j) * around.after,
                       around.after);
        }
}

template <class Real, class T>
void slice(const Step<Real>& step) {
    std::vector<std::int64_t> strides = strides_of(step.in[0]->shape);
    const std::vector<SliceRange> ranges = slice_ranges(step.graph, step.node);
    std::int64_t start = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        start += ranges[d].start * strides[d];
        // A step that is never taken may be larger than any offset.
        strides[d] = ranges[d].count > 1 ? strides[d] * ranges[d].step : 0;
    }
    std::vector<T>& out = step.out[0]->template values<T>();
    const std::vector<T>& x = step.in[0]->template values<T>();
    for_each(step.out[0]->shape, strides, start,
             [&](std::size_t i, std::size_t o) { out[i] = x[o]; });
}

template <class Real, class T>
void pad(const Step<Real>& step) {
    std::vector<T>& out = step.out[0]->template values<T>();
    if (step.has(2)) {
        const std::vector<T>& value = step.in[2]->template values<T>();
        if (value.size() != 1)
            throw InputError(fmt::format("node {} (Pad): the value is no scalar", step.node.name));
        std::fill(out.begin(), out.end(), value[0]);
    }
    const std::vector<std::int64_t> strides = strides_of(step.out[0]->shape);
    std::int64_t start = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) start += step.in[1]->integer[d] * strides[d];
    const std::vector<T>& x = step.in[0]->template values<T>();
    for_each(step.in[0]->shape, strides, start,
             [&](std::size_t i, std::size_t o) { out[o] = x[i]; });
}

template <class Real, class T>
void tile(const Step<Real>& step) {
    const Shape &in = step.in[0]->shape, &out = step.out[0]->shape;
    const std::vector<std::int64_t> strides = strides_of(in);
    const std::vector<T>& x = step.in[0]->template values<T>();
    std::vector<T>& y = step.out[0]->template values<T>();
    const std::vector<std::int64_t> own = strides_of(out);
    for (std::size_t i = 0; i < y.size(); ++i) {
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < in.size(); ++d)
            offset += static_cast<std::int64_t>(i) / own[d] % out[d] % in[d] * strides[d];
        y[i] = x[static_cast<std::size_t>(offset)];
    }
}

/// What is above (or below) the k-th diagonal of the last two dimensions stays.
template <class Real, class T>
void triangle(const Step<Real>& step) {
    const Shape& shape = step.out[0]->shape;
    const std::int64_t columns = shape.back(), rows = shape[shape.size() - 2];
    const bool upper = step.node.integer("upper", 1) != 0;
    // Beyond the matrix all diagonals are alike.
    const std::int64_t k =
        step.has(1) ? std::clamp(step.in[1]->integer.at(0), -rows - 1, columns + 1) : 0;
    const std::vector<T>& x = step.in[0]->template values<T>();
    std::vector<T>& y = step.out[0]->template values<T>();
    for (std::size_t i = 0; i < y.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        const std::int64_t row = place / columns % rows, column = place % columns;
        if (upper ? column >= row + k : column <= row + k) y[i] = x[i];
    }
}

template <class Real, class T>
bool run(const Step<Real>& step) {
    std::vector<T>& out = step.out[0]->template values<T>();
    switch (step.node.op) {
        case Operator::kTranspose:
            transpose<Real, T>(step);
            return true;
        case Operator::kConcat:
            concat<Real, T>(step);
            return true;
        case Operator::kGather:
            gather<Real, T>(step);
            return true;
        case Operator::kTile:
            tile<Real, T>(step);
            return true;
        case Operator::kTrilu:
            triangle<Real, T>(step);
            return true;
        case Operator::kSlice:
            slice<Real, T>(step);
            return true;
        case Operator::kPad:
            pad<Real, T>(step);
            return true;
        case Operator::kExpand: {
            const std::vector<T>& x = step.in[0]->template values<T>();
            for_each(step.out[0]->shape, broadcast_strides(step.in[0]->shape, step.out[0]->shape),
                     0, [&](std::size_t i, std::size_t o) { out[i] = x[o]; });
            return true;
        }
        case Operator::kRange:
            for (std::size_t i = 0; i < out.size(); ++i)
                out[i] = step.in[0]->template values<T>()[0] +
                         static_cast<T>(i) * step.in[2]->template values<T>()[0];
            return true;
        case Operator::kDropout:
            if (step.out.size() > 1 && step.out[1] != nullptr)
                std::fill(step.out[1]->integer.begin(), step.out[1]->integer.end(), 1);
            [[fallthrough]];
        case Operator::kFlatten:
        case Operator::kIdentity:
        case Operator::kReshape:
        case Operator::kSqueeze:
        case Operator::kUnsqueeze:
            out = step.in[0]->template values<T>();
            return true;
        default:
            return false;
    }
}

/// Given values in the executor's own representation.
template <class Real>
void assign(Array<Real>& out, const Tensor& tensor) {
    if (!is_floating(out.type))
        out.integer = to_integers(tensor);
    else if constexpr (std::is_same_v<Real, float>)
        out.real = to_floats(tensor);
    else
        out.real = to_doubles(tensor);
}

template <class Real>
void cast(const Step<Real>& step) {
    const Array<Real>& x = *step.in[0];
    Array<Real>& out = *step.out[0];
    const bool from_real = is_floating(x.type), to_real = is_floating(out.type);
    // Between floating types nothing is lost here: everything is computed in Real.
    if (const float scale = step.node.real("e4m3_scale", 0); scale != 0)
        std::ranges::transform(x.real, out.real.begin(), [scale](Real value) {
            const auto over = static_cast<double>(value) / static_cast<double>(scale);
            return Real(numerics::e4m3_to_fp32(numerics::fp64_to_e4m3(over, true))) * Real(scale);
        });
    else if (from_real && to_real)
        out.real = x.real;
    else if (!from_real && to_real)
        out.real.assign(x.integer.begin(), x.integer.end());
    else if (from_real)
        assign(out,
               from_doubles(out.type, x.shape, std::vector<double>(x.real.begin(), x.real.end())));
    else
        assign(out, from_integers(out.type, x.shape, x.integer));
}

}  // namespace

template <class Real>
bool run_movement(const Step<Real>& step) {
    switch (step.node.op) {
        case Operator::kCast:
            cast(step);
            return true;
        case Operator::kShape: {
            const Shape& shape = step.in[0]->shape;
            const auto rank = static_cast<std::int64_t>(shape.size());
            std::int64_t start = step.node.integer("start", 0);
            start = std::clamp(start < 0 ? start + rank : start, std::int64_t{0}, rank);
            for (std::size_t i = 0; i < step.out[0]->integer.size(); ++i)
                step.out[0]->integer[i] = shape[i + static_cast<std::size_t>(start)];
            return true;
        }
        case Operator::kConstantOfShape: {
            const auto value = step.node.attributes.find("value");
            if (value == step.node.attributes.end()) return true;
            Array<Real> one{{}, step.out[0]->type, {}, {}};
            assign(one, *std::get<std::shared_ptr<const Tensor>>(value->second));
            if (is_floating(one.type))
                std::fill(step.out[0]->real.begin(), step.out[0]->real.end(), one.real[0]);
            else
                std::fill(step.out[0]->integer.begin(), step.out[0]->integer.end(), one.integer[0]);
            return true;
        }
        case Operator::kSplit:
            is_floating(step.in[0]->type) ? split<Real, Real>(step)
                                          : split<Real, std::int64_t>(step);
            return true;
        default:
            return is_floating(step.out[0]->type) ? run<Real, Real>(step)
                                                  : run<Real, std::int64_t>(step);
    }
}

template bool run_movement(const Step<float>&);
template bool run_movement(const Step<double>&);

}  // namespace lockstep::network::reference
