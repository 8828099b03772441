// SPDX-License-Identifier: Apache-2.0
// Bound of recursive summation: |error| <= g * sum |a b| with g = k u / (1 - k u), u = 2^-24
// (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), any order; products of bf16 are
// exact in fp32, and with fold sums there are no more than k additions.
#include "workloads/network/builtin/product_data.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "sim/error/error.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/random.h"

namespace lockstep::network {

namespace {

template <typename T>
T element(numerics::Random& random) {
    if constexpr (std::is_same_v<T, float>)
        return numerics::bf16_to_fp32(numerics::fp32_to_bf16(random.uniform(-1, 1)));
    else
        return random.integer(-128, 127);
}

template <typename T>
std::vector<T> elements(std::int64_t count, numerics::Random& random) {
    std::vector<T> result(static_cast<std::size_t>(count));
    for (T& value : result) value = element<T>(random);
    return result;
}

}  // namespace

template <>
struct ProductSum<std::int32_t> {
    std::int64_t value = 0;
    void add(std::int32_t a, std::int32_t b) { value += std::int64_t{a} * b; }
};

template <>
struct ProductSum<float> {
    double value = 0, magnitude = 0;
    void add(float a, float b) {
        const double product = static_cast<double>(a) * b;
        value += product;
        magnitude += std::abs(product);
    }
};

template <typename T>
ProductData<T>::ProductData(const MatrixProduct& product, std::uint64_t seed, std::int64_t instance)
    : product_(product) {
    numerics::Random random(seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(instance));
    const auto& c = product_.convolution;
    if (c && c->window.is_spread())
        throw InputError(fmt::format("{}: a convolution over a spread image", product.name));
    left_ = elements<T>(c ? c->batch * c->channels * c->height * c->width : product_.m * product_.k,
                        random);
    right_ = elements<T>(product_.k * product_.n, random);
}

template <typename T>
T ProductData<T>::input(std::int64_t batch, std::int64_t channel, std::int64_t y,
                        std::int64_t x) const {
    const Convolution& c = *product_.convolution;
    if (y < 0 || y >= c.height || x < 0 || x >= c.width) return T{};
    return left_[static_cast<std::size_t>(
        ((batch * c.channels + channel) * c.height + y) * c.width + x)];
}

template <typename T>
std::vector<T> ProductData<T>::a() const {
    if (!product_.convolution) return left_;
    const Convolution& c = *product_.convolution;
    const SlidingWindow& w = c.window;
    std::vector<T> matrix(static_cast<std::size_t>(product_.m * product_.k));
    T* out = matrix.data();
    for (std::int64_t batch = 0; batch < c.batch; ++batch)
        for (std::int64_t y = 0; y < w.output[0]; ++y)
            for (std::int64_t x = 0; x < w.output[1]; ++x)
                for (std::int64_t channel = 0; channel < c.channels; ++channel)
                    for (std::int64_t r = 0; r < w.kernel[0]; ++r)
                        for (std::int64_t s = 0; s < w.kernel[1]; ++s)
                            *out++ = input(batch, channel,
                                           y * w.stride[0] + r * w.dilation[0] - w.pad_begin[0],
                                           x * w.stride[1] + s * w.dilation[1] - w.pad_begin[1]);
    return matrix;
}

template <typename T>
std::vector<T> ProductData<T>::b() const {
    if (!product_.convolution) return right_;
    std::vector<T> matrix(right_.size());
    for (std::int64_t filter = 0; filter < product_.n; ++filter)
        for (std::int64_t k = 0; k < product_.k; ++k)
            matrix[static_cast<std::size_t>(k * product_.n + filter)] =
                right_[static_cast<std::size_t>(filter * product_.k + k)];
    return matrix;
}

/// Of a convolution, the inputs that a window covers are looked up where they are; im2col's matrix
/// is not used.
template <typename T>
void ProductData<T>::direct(std::int64_t row, std::span<const T> right,
                            std::vector<Sum>& sums) const {
    std::fill(sums.begin(), sums.end(), Sum{});
    std::int64_t k = 0;
    const auto add = [&](T a) {
        const T* const b = &right[static_cast<std::size_t>(k++ * product_.n)];
        for (std::int64_t j = 0; j < product_.n; ++j)
            sums[static_cast<std::size_t>(j)].add(a, b[j]);
    };
    if (!product_.convolution) {
        while (k < product_.k) add(left_[static_cast<std::size_t>(row * product_.k + k)]);
        return;
    }
    const Convolution& c = *product_.convolution;
    const SlidingWindow& w = c.window;
    const std::int64_t x = row % w.output[1], y = row / w.output[1] % w.output[0],
                       batch = row / (w.output[0] * w.output[1]);
    for (std::int64_t channel = 0; channel < c.channels; ++channel)
        for (std::int64_t r = 0; r < w.kernel[0]; ++r)
            for (std::int64_t s = 0; s < w.kernel[1]; ++s)
                add(input(batch, channel, y * w.stride[0] + r * w.dilation[0] - w.pad_begin[0],
                          x * w.stride[1] + s * w.dilation[1] - w.pad_begin[1]));
}

template <typename T>
std::string ProductData<T>::check(std::span<const T> c) const {
    LOCKSTEP_CHECK(c.size() == static_cast<std::size_t>(product_.m * product_.n),
                   "{} results of {} x {}", c.size(), product_.m, product_.n);
    const double unit = static_cast<double>(product_.k) * 0x1p-24;
    const std::vector<T> right = b();
    std::vector<Sum> sums(static_cast<std::size_t>(product_.n));
    for (std::int64_t row = 0; row < product_.m; ++row) {
        direct(row, right, sums);
        for (std::int64_t column = 0; column < product_.n; ++column) {
            const T got = c[static_cast<std::size_t>(row * product_.n + column)];
            const Sum& sum = sums[static_cast<std::size_t>(column)];
            bool is_right;
            if constexpr (std::is_same_v<T, float>)
                is_right = std::abs(got - sum.value) <= unit / (1 - unit) * sum.magnitude;
            else
                is_right = got == static_cast<std::int32_t>(static_cast<std::uint64_t>(sum.value));
            if (!is_right)
                return fmt::format("{} [{}, {}] is {}, should be {}", product_.name, row, column,
                                   got, sum.value);
        }
    }
    return "";
}

template class ProductData<std::int32_t>;
template class ProductData<float>;

}  // namespace lockstep::network
