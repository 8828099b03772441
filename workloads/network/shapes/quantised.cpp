// SPDX-License-Identifier: Apache-2.0
// Shapes and types of ONNX's quantised operators, after the ONNX operator reference. A scale is a
// scalar, or a vector along one axis; its zero point has its shape and the stored type.
#include "workloads/network/shapes/rule.h"

namespace lockstep::network::shapes {

namespace {

bool is_byte(ElementType type) {
    return type == ElementType::kInt8 || type == ElementType::kUint8;
}

/// Inputs `scale` and `zero_point` (which may be left out) of the stored input or output `type`,
/// over `extent` slices where they are vectors.
void check_scale(const Rule& r, std::size_t scale, std::size_t zero_point, ElementType type,
                 std::int64_t extent) {
    r.require(is_floating(r.type(scale)), "a scale is not floating");
    const Shape& shape = r.in(scale);
    r.require(shape.empty() || shape == Shape{1} || shape == Shape{extent},
              fmt::format("a scale of {} for {} slices", to_string(shape), extent));
    if (!r.has(zero_point)) return;
    r.require(r.type(zero_point) == type,
              fmt::format("a zero point of {} for {}", name_of(r.type(zero_point)), name_of(type)));
    r.require(element_count(r.in(zero_point)) == element_count(shape),
              "a zero point of another shape than its scale");
}

std::int64_t slices(const Rule& r) {
    const Shape& x = r.in(0);
    if (element_count(r.in(1)) == 1) return 1;
    return x[axis_of(r.node, r.node.integer("axis", 1), x.size())];
}

void require_bytes(const Rule& r, std::size_t a, std::size_t b) {
    r.require(is_byte(r.type(a)) && is_byte(r.type(b)),
              fmt::format("of {} and {}", name_of(r.type(a)), name_of(r.type(b))));
}

/// Of the second operand of a matrix product; a vector is one.
std::int64_t columns(const Shape& shape) {
    return shape.size() < 2 ? 1 : shape.back();
}

}  // namespace

void infer_quantise(const Rule& r) {
    r.require(is_floating(r.type(0)), "the input is not floating");
    const ElementType type = r.has(2) ? r.type(2) : ElementType::kUint8;
    r.require(is_byte(type) || type == ElementType::kInt16, fmt::format("to {}", name_of(type)));
    check_scale(r, 1, 2, type, slices(r));
    r.set(0, type, r.in(0));
}

void infer_dequantise(const Rule& r) {
    r.require(
        is_byte(r.type(0)) || r.type(0) == ElementType::kInt16 || r.type(0) == ElementType::kInt32,
        fmt::format("from {}", name_of(r.type(0))));
    check_scale(r, 1, 2, r.type(0), slices(r));
    r.set(0, r.type(1), r.in(0));
}

void infer_dynamic_quantise(const Rule& r) {
    r.require(is_floating(r.type(0)), "the input is not floating");
    r.set(0, ElementType::kUint8, r.in(0));
    r.set(1, ElementType::kFp32, {});
    r.set(2, ElementType::kUint8, {});
}

void infer_qlinear_convolution(const Rule& r) {
    require_bytes(r, 0, 3);
    const Shape &x = r.in(0), &w = r.in(3);
    const Shape out = convolution_shape(r, x, w);
    r.require(is_byte(r.type(7)), fmt::format("to {}", name_of(r.type(7))));
    check_scale(r, 1, 2, r.type(0), 1);
    check_scale(r, 4, 5, r.type(3), w[0]);
    check_scale(r, 6, 7, r.type(7), 1);
    if (r.has(8))
        r.require(r.in(8) == Shape{w[0]} && r.type(8) == ElementType::kInt32,
                  fmt::format("the bias is {}{}", name_of(r.type(8)), to_string(r.in(8))));
    r.set(0, r.type(7), out);
}

void infer_qlinear_matmul(const Rule& r) {
    require_bytes(r, 0, 3);
    const Shape out = product_shape(r, r.in(0), r.in(3));
    r.require(is_byte(r.type(7)), fmt::format("to {}", name_of(r.type(7))));
    // Scales of rows of the first operand are not supported.
    check_scale(r, 1, 2, r.type(0), 1);
    check_scale(r, 4, 5, r.type(3), columns(r.in(3)));
    check_scale(r, 6, 7, r.type(7), 1);
    r.set(0, r.type(7), out);
}

/// x and w, then their zero points; that of x is a scalar, that of w may have one value a channel.
void infer_integer_product(const Rule& r) {
    require_bytes(r, 0, 1);
    const bool convolves = r.node.op == Operator::kConvInteger;
    const Shape out =
        convolves ? convolution_shape(r, r.in(0), r.in(1)) : product_shape(r, r.in(0), r.in(1));
    const std::int64_t channels = convolves ? out[1] : columns(r.in(1));
    for (const std::size_t i : {2, 3}) {
        if (!r.has(i)) continue;
        const std::int64_t count = element_count(r.in(i));
        r.require(r.type(i) == r.type(i - 2), "a zero point of another type than its operand");
        r.require(count == 1 || (i == 3 && count == channels),
                  fmt::format("a zero point of {}", to_string(r.in(i))));
    }
    r.set(0, ElementType::kInt32, out);
}

}  // namespace lockstep::network::shapes
