// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/places.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace lockstep::network::gpu {

kernels::Divider divider_of(std::int64_t divisor) {
    LOCKSTEP_CHECK(divisor > 0 && divisor <= INT32_MAX, "a divisor of {}", divisor);
    const auto d = static_cast<std::uint32_t>(divisor);
    if (d == 1) return {1, 0, 0};
    // Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994), for
    // dividends of 31 bits.
    const auto digits = static_cast<std::uint32_t>(std::bit_width(d - 1));
    const std::uint64_t multiplier = ((std::uint64_t{1} << (31 + digits)) + d - 1) / d;
    return {d, static_cast<std::uint32_t>(multiplier), digits - 1};
}

namespace {

// The kernels' list, which nvcc compiles, is in the order of the network's.
constexpr bool is_same(kernels::Type a, ElementType b) {
    return static_cast<int>(a) == static_cast<int>(b);
}
static_assert(is_same(kernels::Type::kFp32, ElementType::kFp32) &&
              is_same(kernels::Type::kFp64, ElementType::kFp64) &&
              is_same(kernels::Type::kBf16, ElementType::kBf16) &&
              is_same(kernels::Type::kFp16, ElementType::kFp16) &&
              is_same(kernels::Type::kInt8, ElementType::kInt8) &&
              is_same(kernels::Type::kUint8, ElementType::kUint8) &&
              is_same(kernels::Type::kInt16, ElementType::kInt16) &&
              is_same(kernels::Type::kInt32, ElementType::kInt32) &&
              is_same(kernels::Type::kInt64, ElementType::kInt64) &&
              is_same(kernels::Type::kBool, ElementType::kBool));

}  // namespace

kernels::Type type_of(ElementType type) {
    return static_cast<kernels::Type>(type);
}

Loops Loops::joined() const {
    Loops result;
    result.strides.resize(strides.size());
    for (std::size_t d = 0; d < extents.size(); ++d) {
        if (extents[d] == 1) continue;
        const bool follows =
            !result.extents.empty() && std::all_of(strides.begin(), strides.end(), [&](auto& s) {
                const std::size_t i = static_cast<std::size_t>(&s - strides.data());
                return result.strides[i].back() == s[d] * extents[d];
            });
        if (follows) {
            result.extents.back() *= extents[d];
            for (std::size_t i = 0; i < strides.size(); ++i)
                result.strides[i].back() = strides[i][d];
        } else {
            result.extents.push_back(extents[d]);
            for (std::size_t i = 0; i < strides.size(); ++i)
                result.strides[i].push_back(strides[i][d]);
        }
    }
    if (result.extents.empty()) {
        result.extents.push_back(1);
        for (std::size_t i = 0; i < strides.size(); ++i) result.strides[i].push_back(1);
    }
    return result;
}

Loops Loops::sorted() const {
    std::vector<std::size_t> order(extents.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return strides[0][a] > strides[0][b]; });
    Loops result;
    for (const std::size_t d : order) result.extents.push_back(extents[d]);
    for (const std::vector<std::int64_t>& s : strides) {
        result.strides.emplace_back();
        for (const std::size_t d : order) result.strides.back().push_back(s[d]);
    }
    return result;
}

std::vector<std::int64_t> broadcast_strides(const compile::View& operand, const Shape& out) {
    std::vector<std::int64_t> strides(out.size(), 0);
    const std::size_t rank = operand.shape.size();
    for (std::size_t d = 0; d < rank; ++d)
        if (operand.shape[d] != 1) strides[out.size() - rank + d] = operand.strides[d];
    return strides;
}

compile::View along_axis(const compile::View& vector, std::size_t axis, const Shape& out) {
    compile::View view{Shape(out.size(), 1), std::vector<std::int64_t>(out.size(), 0), {}};
    view.shape[axis] = element_count(vector.shape);
    view.strides[axis] = vector.shape.empty() ? 0 : vector.strides.back();
    return view;
}

std::optional<std::int64_t> single_stride(const Shape& extents,
                                          const std::vector<std::int64_t>& strides) {
    Loops loops{extents, {}};
    loops.add(strides);
    const Loops joined = loops.joined();
    if (joined.count() == 1) return 0;
    if (joined.extents.size() != 1) return std::nullopt;
    return joined.strides[0][0];
}

bool is_row_major(const compile::View& view) {
    const std::vector<std::int64_t> dense = compile::dense_strides(view.shape);
    for (std::size_t d = 0; d < view.shape.size(); ++d)
        if (view.shape[d] != 1 && view.strides[d] != dense[d]) return false;
    return true;
}

bool is_vector(const Place& place, const std::vector<std::int64_t>& strides) {
    if (strides.empty() || strides.back() != 1 || place.offset % 4 != 0) return false;
    return std::all_of(strides.begin(), strides.end() - 1,
                       [](std::int64_t stride) { return stride % 4 == 0; });
}

}  // namespace lockstep::network::gpu
