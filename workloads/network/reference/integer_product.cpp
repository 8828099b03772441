// SPDX-License-Identifier: Apache-2.0
// Integer products on Eigen's fp32 ones: over as many elements of k as fp32 sums exactly (bytes: at
// least 258 products stay below 2^24), the pieces added in fp64. A convolution goes an image and
// group at a time.
#include <Eigen/Core>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/reference/columns.h"
#include "workloads/network/reference/integer.h"

namespace lockstep::network::reference {

namespace {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// values - zero, and the largest magnitude among them.
float centre(std::span<const std::int64_t> values, std::int64_t zero, float* out) {
    std::int64_t low = 0, high = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t value = values[i] - zero;
        low = std::min(low, value);
        high = std::max(high, value);
        out[i] = static_cast<float>(value);
    }
    return static_cast<float>(std::max(-low, high));
}

class Convolution {
  public:
    Convolution(const Node& node, const IntegerOperand& x, const IntegerOperand& w)
        : node_(node),
          x_(x),
          window_(spread_window_of(node, x.shape, w.shape)),
          plane_shape_(x.shape.begin() + 2, x.shape.end()),
          plane_(element_count(plane_shape_)),
          outputs_(element_count(window_.output)),
          depth_(w.shape[1]),
          k_(depth_ * element_count(window_.kernel)),
          channels_(w.shape[0] / window_.group),
          weights_(w.shape[0], k_),
          image_(depth_, plane_) {
        for (std::int64_t c = 0; c < w.shape[0]; ++c) {
            const std::span<const std::int64_t> of_channel(w.values.data() + c * k_,
                                                           static_cast<std::size_t>(k_));
            const std::int64_t zero = w.zero_point.size() == 1
                                          ? w.zero_point[0]
                                          : w.zero_point.at(static_cast<std::size_t>(c));
            largest_weight_ =
                std::max(largest_weight_, centre(of_channel, zero, weights_.row(c).data()));
        }
        if (!is_pointwise(window_)) columns_.resize(k_, outputs_);
    }

    std::int64_t groups() const { return window_.group; }
    Shape output_shape() const { return {x_.shape[0], weights_.rows(), outputs_}; }

    /// The sums of an image and group: channels by positions.
    const Matrix<double>& run(std::int64_t image, std::int64_t group) {
        const std::span<const std::int64_t> values(
            x_.values.data() + (image * x_.shape[1] + group * depth_) * plane_,
            static_cast<std::size_t>(depth_ * plane_));
        const float largest = centre(values, x_.zero_point.at(0), image_.data());
        if (columns_.size() != 0)
            copy_columns(window_, plane_shape_, depth_, image_.data(), columns_.data());
        const Matrix<float>& columns = columns_.size() != 0 ? columns_ : image_;
        const auto w = weights_.middleRows(group * channels_, channels_);
        // Sums of so many products are below 2^24: fp32 adds them exactly, in any order.
        const float product = std::max(1.0f, largest * largest_weight_);
        if (product > 0x1p24f)
            throw InputError(fmt::format("node {}: operands of up to {} and {} are no bytes",
                                         node_.name, largest, largest_weight_));
        const auto exact = static_cast<std::int64_t>(0x1p24f / product);
        for (std::int64_t k = 0; k < std::max<std::int64_t>(k_, 1); k += exact) {
            const std::int64_t count = std::min(exact, k_ - k);
            const auto left = w.middleCols(k, count);
            const auto right = columns.middleRows(k, count);
            if (channels_ == 1)
                part_.noalias() = left.lazyProduct(right);
            else
                part_.noalias() = left * right;
            if (k == 0)
                sums_ = part_.cast<double>();
            else
                sums_ += part_.cast<double>();
        }
        return sums_;
    }

  private:
    const Node& node_;
    const IntegerOperand& x_;
    const SlidingWindow window_;
    const Shape plane_shape_;
    const std::int64_t plane_, outputs_, depth_, k_, channels_;
    float largest_weight_ = 0;
    Matrix<float> weights_, image_, columns_, part_;
    Matrix<double> sums_;
};

}  // namespace

std::vector<std::int32_t> convolve_integers(const Node& node, const IntegerOperand& x,
                                            const IntegerOperand& w,
                                            std::span<const std::int64_t> bias) {
    Convolution convolution(node, x, w);
    std::vector<std::int32_t> result(
        static_cast<std::size_t>(element_count(convolution.output_shape())));
    std::int32_t* out = result.data();
    for (std::int64_t image = 0; image < x.shape[0] && !result.empty(); ++image)
        for (std::int64_t group = 0; group < convolution.groups(); ++group) {
            const Matrix<double>& sums = convolution.run(image, group);
            for (std::int64_t c = 0; c < sums.rows(); ++c, out += sums.cols()) {
                const auto channel = static_cast<std::size_t>(group * sums.rows() + c);
                const auto row =
                    sums.row(c).array() + (bias.empty() ? 0.0 : static_cast<double>(bias[channel]));
                for (const double extreme : {row.minCoeff(), row.maxCoeff()})
                    check_int32(node, extreme);
                Eigen::Map<Eigen::Array<std::int32_t, 1, Eigen::Dynamic>>(out, sums.cols()) =
                    row.cast<std::int32_t>();
            }
        }
    return result;
}

std::vector<std::int32_t> multiply_integers(const Node& node, const IntegerOperand& x,
                                            const IntegerOperand& w, bool transposed,
                                            std::span<const std::int64_t> bias) {
    constexpr std::int64_t kExact = 256;  // products of bytes: 256 * 255 * 255 < 2^24
    constexpr float kByte = 255;
    const std::int64_t k = x.shape.back(), n = w.shape[transposed ? 0 : 1];
    const std::int64_t m = k == 0 ? 0 : static_cast<std::int64_t>(x.values.size()) / k;
    const auto zero_w = [&](std::int64_t column) {
        return w.zero_point[w.zero_point.size() == 1 ? 0 : static_cast<std::size_t>(column)];
    };
    Matrix<float> left, right, part;
    Matrix<double> sums = Matrix<double>::Zero(m, n);
    if (!bias.empty())
        for (std::int64_t column = 0; column < n; ++column)
            sums.col(column).setConstant(
                static_cast<double>(bias[static_cast<std::size_t>(column)]));
    for (std::int64_t first = 0; first < k && m != 0; first += kExact) {
        const std::int64_t count = std::min(kExact, k - first);
        const auto run = static_cast<std::size_t>(count);
        float largest = 0;
        left.resize(m, count);
        for (std::int64_t row = 0; row < m; ++row)
            largest = std::max(largest, centre({x.values.data() + row * k + first, run},
                                               x.zero_point.at(0), left.row(row).data()));
        if (transposed) {
            right.resize(n, count);
            for (std::int64_t c = 0; c < n; ++c)
                largest = std::max(largest, centre({w.values.data() + c * k + first, run},
                                                   zero_w(c), right.row(c).data()));
            part.noalias() = left * right.transpose();
        } else {
            right.resize(count, n);
            for (std::int64_t row = 0; row < count; ++row)
                for (std::int64_t c = 0; c < n; ++c) {
                    const std::int64_t value =
                        w.values[static_cast<std::size_t>((first + row) * n + c)] - zero_w(c);
                    right(row, c) = static_cast<float>(value);
                }
            largest = std::max(largest, right.size() == 0 ? 0.0f : right.cwiseAbs().maxCoeff());
            part.noalias() = left * right;
        }
        if (largest > kByte)
            throw InputError(
                fmt::format("node {}: operands of up to {} are no bytes", node.name, largest));
        sums += part.cast<double>();
    }
    std::vector<std::int32_t> result(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m * n; ++i) {
        check_int32(node, sums.data()[i]);
        result[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(sums.data()[i]);
    }
    return result;
}

}  // namespace lockstep::network::reference
