// SPDX-License-Identifier: Apache-2.0
// Forward, backward and update of the two networks as matrix algebra, written apart from the
// kernels: convolutions are products with the matrix of patches.
#include "workloads/cuda/train/reference.h"

#include <Eigen/Dense>
#include <cmath>

namespace lockstep::cuda {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix>;

Matrix relu(const Matrix& x) {
    return x.cwiseMax(0.0);
}

Matrix relu_backward(const Matrix& y, const Matrix& dy) {
    return (y.array() > 0.0).select(dy, 0.0);
}

// A parameter with its gradient and velocity.
struct Slot {
    Matrix value, gradient, velocity;

    Slot(const Weights& initial, int rows, int cols) {
        value =
            Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                initial.values.data(), rows, cols)
                .cast<double>();
        gradient = velocity = Matrix::Zero(rows, cols);
    }
    void update(const TrainOptions& options) {
        velocity = double{options.momentum} * velocity + gradient;
        value -= double{options.rate} * velocity;
    }
};

struct Linear {
    Slot weight, bias;

    Matrix forward(const Matrix& x) const {
        return (x * weight.value).rowwise() + bias.value.row(0);
    }
    Matrix backward(const Matrix& x, const Matrix& dy) {
        weight.gradient = x.transpose() * dy;
        bias.gradient = dy.colwise().sum();
        return dy * weight.value.transpose();
    }
};

// Rows of the matrices outside are images, [channel][y][x] within a row.
struct Conv {
    Slot weight, bias;  // [k][c * window * window], [1][k]
    int c, side, window, stride, pad;

    int out_side() const { return (side + 2 * pad - window) / stride + 1; }

    // Calls visit(patch row, pixel, place in the image's row) for all that lies in the image.
    template <class Visit>
    void for_each_tap(Visit visit) const {
        const int out = out_side();
        for (int tap = 0; tap < c * window * window; ++tap) {
            const int channel = tap / (window * window), a = tap / window % window;
            for (int pixel = 0; pixel < out * out; ++pixel) {
                const int y = pixel / out * stride + a - pad;
                const int x = pixel % out * stride + tap % window - pad;
                if (y >= 0 && y < side && x >= 0 && x < side) {
                    visit(tap, pixel, (channel * side + y) * side + x);
                }
            }
        }
    }
    Matrix patches(const Matrix& x, Eigen::Index image) const {
        Matrix p = Matrix::Zero(c * window * window, out_side() * out_side());
        for_each_tap([&](int tap, int pixel, int at) { p(tap, pixel) = x(image, at); });
        return p;
    }
    Matrix forward(const Matrix& x) const {
        const Eigen::Index k = weight.value.rows(), pixels = out_side() * out_side();
        Matrix y(x.rows(), k * pixels);
        for (Eigen::Index image = 0; image < x.rows(); ++image) {
            Map(y.row(image).data(), k, pixels) =
                (weight.value * patches(x, image)).colwise() + bias.value.row(0).transpose();
        }
        return y;
    }
    Matrix backward(const Matrix& x, const Matrix& dy) {
        const Eigen::Index k = weight.value.rows(), pixels = out_side() * out_side();
        Matrix dx = Matrix::Zero(x.rows(), x.cols());
        weight.gradient.setZero();
        bias.gradient.setZero();
        for (Eigen::Index image = 0; image < x.rows(); ++image) {
            const Matrix d = Eigen::Map<const Matrix>(dy.row(image).data(), k, pixels);
            weight.gradient += d * patches(x, image).transpose();
            bias.gradient += d.rowwise().sum().transpose();
            const Matrix dpatches = weight.value.transpose() * d;
            for_each_tap(
                [&](int tap, int pixel, int at) { dx(image, at) += dpatches(tap, pixel); });
        }
        return dx;
    }
};

// 2x2 maximum; `from` remembers where each came from.
Matrix max_pool(const Matrix& x, int planes, int side, Eigen::MatrixXi& from) {
    const int out = side / 2;
    Matrix y(x.rows(), planes * out * out);
    from.resize(y.rows(), y.cols());
    for (Eigen::Index image = 0; image < y.rows(); ++image) {
        for (int i = 0; i < y.cols(); ++i) {
            const int top = i / (out * out) * side * side + i / out % out * 2 * side + i % out * 2;
            int best = top;
            for (const int at : {top + 1, top + side, top + side + 1}) {
                if (x(image, at) > x(image, best)) best = at;
            }
            from(image, i) = best;
            y(image, i) = x(image, best);
        }
    }
    return y;
}

struct Mlp {
    Linear linear1, linear2;
    Matrix hidden;

    explicit Mlp(const std::vector<Weights>& w)
        : linear1{{w[0], kPixels, kHidden}, {w[1], 1, kHidden}},
          linear2{{w[2], kHidden, kClasses}, {w[3], 1, kClasses}} {}
    std::vector<Slot*> slots() {
        return {&linear1.weight, &linear1.bias, &linear2.weight, &linear2.bias};
    }
    Matrix forward(const Matrix& x) {
        hidden = relu(linear1.forward(x));
        return linear2.forward(hidden);
    }
    void backward(const Matrix& x, const Matrix& dlogits) {
        linear1.backward(x, relu_backward(hidden, linear2.backward(hidden, dlogits)));
    }
};

struct Cnn {
    Conv conv1, conv2;
    Linear linear;
    Matrix maps1, pooled, maps2;
    Eigen::MatrixXi from;

    explicit Cnn(const std::vector<Weights>& w)
        : conv1{{w[0], kConv1Filters, kConv1Window * kConv1Window},
                {w[1], 1, kConv1Filters},
                1,
                kImageSide,
                kConv1Window,
                kConv1Stride,
                kConv1Pad},
          conv2{{w[2], kConv2Filters, kConv1Filters * kConv2Window * kConv2Window},
                {w[3], 1, kConv2Filters},
                kConv1Filters,
                kPooledSide,
                kConv2Window,
                kConv2Stride,
                kConv2Pad},
          linear{{w[4], kFeatures, kClasses}, {w[5], 1, kClasses}} {}
    std::vector<Slot*> slots() {
        return {&conv1.weight, &conv1.bias,    &conv2.weight,
                &conv2.bias,   &linear.weight, &linear.bias};
    }
    Matrix forward(const Matrix& x) {
        maps1 = relu(conv1.forward(x));
        pooled = max_pool(maps1, kConv1Filters, kConv1Side, from);
        maps2 = relu(conv2.forward(pooled));
        return linear.forward(maps2);
    }
    void backward(const Matrix& x, const Matrix& dlogits) {
        const Matrix dmaps2 = relu_backward(maps2, linear.backward(maps2, dlogits));
        const Matrix dpooled = conv2.backward(pooled, dmaps2);
        Matrix dmaps1 = Matrix::Zero(maps1.rows(), maps1.cols());
        for (Eigen::Index image = 0; image < dpooled.rows(); ++image) {
            for (Eigen::Index i = 0; i < dpooled.cols(); ++i) {
                dmaps1(image, from(image, i)) += dpooled(image, i);
            }
        }
        conv1.backward(x, relu_backward(maps1, dmaps1));
    }
};

template <class Net>
ReferenceTraining train(Net net, const Digits& digits, const TrainOptions& options) {
    ReferenceTraining training;
    const int batch = options.batch;
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
        double loss = 0;
        int seen = 0;
        for (; seen + batch <= digits.count(); seen += batch) {
            Matrix x(batch, kPixels);
            for (int i = 0; i < batch; ++i) {
                for (int p = 0; p < kPixels; ++p) {
                    x(i, p) = double{static_cast<float>(digits.image(seen + i)[p]) / 255.0f};
                }
            }
            Matrix d = net.forward(x);
            for (int i = 0; i < batch; ++i) {
                const double max = d.row(i).maxCoeff();
                const double sum = (d.row(i).array() - max).exp().sum();
                const int label = digits.labels[seen + i];
                loss += std::log(sum) + max - d(i, label);
                d.row(i) = (d.row(i).array() - max).exp() / sum;
                d(i, label) -= 1.0;
            }
            net.backward(x, d / batch);
            for (Slot* slot : net.slots()) slot->update(options);
        }
        training.losses.push_back(loss / std::max(seen, 1));
    }
    for (const Slot* slot : net.slots()) {
        training.weights.emplace_back(slot->value.data(), slot->value.data() + slot->value.size());
    }
    return training;
}

}  // namespace

ReferenceTraining reference_train(NetworkKind kind, const Digits& digits,
                                  const TrainOptions& options) {
    const std::vector<Weights> initial = initial_weights(kind, options.seed);
    return kind == NetworkKind::kMlp ? train(Mlp(initial), digits, options)
                                     : train(Cnn(initial), digits, options);
}

std::vector<WeightComparison> compare_weights(NetworkKind kind, std::uint64_t seed,
                                              const std::vector<Weights>& device,
                                              const ReferenceTraining& reference) {
    const std::vector<Weights> initial = initial_weights(kind, seed);
    std::vector<WeightComparison> comparisons;
    for (std::size_t i = 0; i < device.size(); ++i) {
        double difference = 0, way = 0;
        for (std::size_t j = 0; j < device[i].values.size(); ++j) {
            const double r = reference.weights[i][j];
            difference += std::pow(device[i].values[j] - r, 2);
            way += std::pow(r - initial[i].values[j], 2);
        }
        const double error = std::sqrt(difference / way);
        comparisons.push_back({device[i].name, error, error <= kWeightTolerance});
    }
    return comparisons;
}

}  // namespace lockstep::cuda
