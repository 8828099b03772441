// SPDX-License-Identifier: Apache-2.0
// Models made by the writer: what the reader makes of them, against plain loops over NHWC with
// TensorFlow Lite's arithmetic, and on an NPU.
#include "workloads/network/tflite/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "tests/page.h"
#include "tests/workloads/network/npu/run_on.h"
#include "tests/workloads/network/tflite/writer.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using tflite::ModelWriter;
using tflite::Raw;
using Field = tflite::Field;

Raw random_bytes(std::size_t count, std::uint64_t seed) {
    Raw bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::uint8_t>(numerics::random_bits(seed, i) >> 32);
    return bytes;
}

std::vector<std::int64_t> run(const Graph& graph, const std::vector<Tensor>& inputs) {
    return to_integers(execute(graph, inputs, Precision::kFp32, {}, Requantisation::kTfLite).at(0));
}

/// SAME padding, stride 2, ReLU6, a scale an output channel.
TEST(TfLiteReader, ConvolvesAsTheReferenceKernel) {
    constexpr int kSide = 5, kIn = 3, kOut = 4, kKernel = 3, kOutSide = 3;
    ModelWriter m;
    const auto x = m.tensor({1, kSide, kSide, kIn}, 0.05f, -3);
    const Raw w = random_bytes(kOut * kKernel * kKernel * kIn, 1);
    const tflite::Reals scales = {0.01f, 0.02f, 0.005f, 0.013f};
    const auto filter = m.weights({kOut, kKernel, kKernel, kIn}, scales, 0, w);
    const tflite::Numbers32 bias = {100, -2000, 30, 7};
    const auto b = m.integers({kOut}, bias);
    const float scale = 6.0f / 255;
    const auto y = m.tensor({1, kOutSide, kOutSide, kOut}, scale, -128);
    m.op(3, {x, filter, b}, {y}, {{0, std::int8_t{0}}, {1, 2}, {2, 2}, {3, std::int8_t{3}}});
    const Graph graph = parse_tflite(m.file({x}, {y}), "conv.tflite");

    const Raw image = random_bytes(kSide * kSide * kIn, 2);
    Tensor input(ElementType::kInt8, {1, kIn, kSide, kSide});
    for (int h = 0; h < kSide; ++h)
        for (int v = 0; v < kSide; ++v)
            for (int c = 0; c < kIn; ++c)
                input.as<std::int8_t>()[static_cast<std::size_t>((c * kSide + h) * kSide + v)] =
                    static_cast<std::int8_t>(
                        image[static_cast<std::size_t>((h * kSide + v) * kIn + c)]);
    const std::vector<std::int64_t> got = run(graph, {input});
    for (int oy = 0; oy < kOutSide; ++oy)
        for (int ox = 0; ox < kOutSide; ++ox)
            for (int k = 0; k < kOut; ++k) {
                std::int32_t sum = bias[static_cast<std::size_t>(k)];
                for (int ky = 0; ky < kKernel; ++ky)
                    for (int kx = 0; kx < kKernel; ++kx)
                        for (int c = 0; c < kIn; ++c) {
                            const int iy = 2 * oy - 1 + ky, ix = 2 * ox - 1 + kx;
                            if (iy < 0 || ix < 0 || iy >= kSide || ix >= kSide) continue;
                            sum +=
                                (static_cast<std::int8_t>(
                                     image[static_cast<std::size_t>((iy * kSide + ix) * kIn + c)]) +
                                 3) *
                                static_cast<std::int8_t>(w[static_cast<std::size_t>(
                                    ((k * kKernel + ky) * kKernel + kx) * kIn + c)]);
                        }
                const double real =
                    double{0.05f} * double{scales[static_cast<std::size_t>(k)]} / double{scale};
                const std::int64_t steps = numerics::multiply(
                    sum, numerics::fixed_point_scale(real), numerics::IntegerRounding::kDouble);
                EXPECT_EQ(got[static_cast<std::size_t>((k * kOutSide + oy) * kOutSide + ox)],
                          std::clamp<std::int64_t>(steps - 128, -128, 127));
            }
}

/// A flattened image: the file's order is h, w, c.
TEST(TfLiteReader, MultipliesAFlattenedImage) {
    ModelWriter m;
    const auto x = m.tensor({1, 2, 2, 3}, 0.1f, 5), flat = m.tensor({1, 12}, 0.1f, 5);
    const Raw w = random_bytes(2 * 12, 4);
    const auto matrix = m.weights({2, 12}, {0.02f}, 0, w);
    const auto y = m.tensor({1, 2}, 0.5f, 1);
    m.op(22, {x}, {flat});
    m.op(9, {flat, matrix}, {y});
    const Graph graph = parse_tflite(m.file({x}, {y}), "fc.tflite");
    Tensor input(ElementType::kInt8, {1, 3, 2, 2});
    for (std::size_t i = 0; i < 12; ++i)
        input.as<std::int8_t>()[i] = static_cast<std::int8_t>(7 * i);
    const std::vector<std::int64_t> got = run(graph, {input});
    for (std::size_t k = 0; k < 2; ++k) {
        std::int32_t sum = 0;
        for (std::size_t i = 0; i < 12; ++i) {
            const std::size_t c = i % 3, area = i / 3;
            sum += (static_cast<std::int32_t>(7 * (c * 4 + area)) - 5) *
                   static_cast<std::int8_t>(w[k * 12 + i]);
        }
        const auto scale = numerics::fixed_point_scale(double{0.1f} * double{0.02f} / double{0.5f});
        EXPECT_EQ(got[k],
                  numerics::saturate(
                      numerics::multiply(sum, scale, numerics::IntegerRounding::kDouble) + 1));
    }
}

/// The sums of TensorFlow Lite's loop: each element of the input is scattered into the result.
struct Transposed {
    int side, in, out, kernel, stride, result;
    bool same;
};
void PrintTo(const Transposed& t, std::ostream* out) {
    *out << t.side << " x " << t.in << " to " << t.result << " x " << t.out << ", kernel "
         << t.kernel << ", stride " << t.stride << (t.same ? ", same" : ", valid");
}

class TfLiteTransposedConvolution : public ::testing::TestWithParam<Transposed> {};

TEST_P(TfLiteTransposedConvolution, ScattersAsTheReferenceKernel) {
    const Transposed& t = GetParam();
    const auto size = [](int a, int b, int c) { return static_cast<std::size_t>(a * b * c); };
    ModelWriter m;
    const auto x = m.tensor({1, t.side, t.side, t.in}, 0.05f, -3);
    const Raw w = random_bytes(size(t.out * t.kernel, t.kernel, t.in), 1);
    tflite::Reals scales;
    tflite::Numbers32 bias;
    for (int k = 0; k < t.out; ++k) {
        scales.push_back(0.01f + 0.003f * static_cast<float>(k));
        bias.push_back(300 * k - 500);
    }
    const auto filter = m.weights({t.out, t.kernel, t.kernel, t.in}, scales, 0, w);
    const float scale = 0.21f;
    const auto y = m.tensor({1, t.result, t.result, t.out}, scale, 4);
    m.op(67,
         {m.integers({4}, {1, t.result, t.result, t.out}), filter, x, m.integers({t.out}, bias)},
         {y}, {{0, static_cast<std::int8_t>(t.same ? 0 : 1)}, {1, t.stride}, {2, t.stride}});
    const Graph graph = parse_tflite(m.file({x}, {y}), "transposed.tflite");

    const Raw image = random_bytes(size(t.side, t.side, t.in), 2);
    Tensor input(ElementType::kInt8, {1, t.in, t.side, t.side});
    for (int i = 0; i < t.side * t.side; ++i)
        for (int c = 0; c < t.in; ++c)
            input.as<std::int8_t>()[static_cast<std::size_t>(c * t.side * t.side + i)] =
                static_cast<std::int8_t>(image[static_cast<std::size_t>(i * t.in + c)]);
    const std::vector<std::int64_t> got = run(graph, {input});

    const int convolved =
        t.same ? (t.result + t.stride - 1) / t.stride : (t.result - t.kernel + t.stride) / t.stride;
    const int pad = std::max(0, (convolved - 1) * t.stride + t.kernel - t.result) / 2;
    std::vector<std::int32_t> sums(size(t.result, t.result, t.out), 0);
    for (int iy = 0; iy < t.side; ++iy)
        for (int ix = 0; ix < t.side; ++ix)
            for (int c = 0; c < t.in; ++c)
                for (int ky = 0; ky < t.kernel; ++ky)
                    for (int kx = 0; kx < t.kernel; ++kx)
                        for (int k = 0; k < t.out; ++k) {
                            const int oy = iy * t.stride - pad + ky, ox = ix * t.stride - pad + kx;
                            if (oy < 0 || ox < 0 || oy >= t.result || ox >= t.result) continue;
                            sums[static_cast<std::size_t>((oy * t.result + ox) * t.out + k)] +=
                                (static_cast<std::int8_t>(image[static_cast<std::size_t>(
                                     (iy * t.side + ix) * t.in + c)]) +
                                 3) *
                                static_cast<std::int8_t>(w[static_cast<std::size_t>(
                                    ((k * t.kernel + ky) * t.kernel + kx) * t.in + c)]);
                        }
    for (int o = 0; o < t.result * t.result; ++o)
        for (int k = 0; k < t.out; ++k) {
            const auto channel = static_cast<std::size_t>(k);
            const double real = double{0.05f} * double{scales[channel]} / double{scale};
            const std::int64_t steps = numerics::multiply(
                sums[static_cast<std::size_t>(o * t.out + k)] + bias[channel],
                numerics::fixed_point_scale(real), numerics::IntegerRounding::kDouble);
            ASSERT_EQ(got[static_cast<std::size_t>(k * t.result * t.result + o)],
                      std::clamp<std::int64_t>(steps + 4, -128, 127))
                << o << " " << k;
        }
    for (const char* sram : {"sram.size=16384", "sram.size=524288"})
        for (const char* machine : {"npu_mobile", "nvdla_small", "npu_auto"}) {
            SCOPED_TRACE(machine);
            const RanOnNpu ran = run_on_npu(graph, {.machine = machine, .overrides = {sram}});
            EXPECT_TRUE(ran.checks.at(0).passed) << ran.checks[0].message;
        }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TfLiteTransposedConvolution,
    ::testing::Values(Transposed{5, 3, 4, 3, 2, 10, true}, Transposed{5, 3, 4, 3, 2, 9, true},
                      Transposed{6, 8, 20, 2, 2, 12, true}, Transposed{4, 5, 3, 3, 2, 9, false},
                      Transposed{4, 5, 3, 4, 3, 14, false}, Transposed{7, 2, 6, 1, 2, 14, false},
                      Transposed{3, 4, 4, 2, 5, 15, false}, Transposed{9, 4, 5, 5, 1, 9, true},
                      Transposed{20, 40, 33, 3, 2, 40, true}));

TEST(TfLiteReader, RefusesTransposedConvolutionsThatDoNotFit) {
    const auto read = [](int result, int stride) {
        ModelWriter m;
        const auto x = m.tensor({1, 4, 4, 2}, 0.1f, 0);
        const auto w = m.weights({3, 3, 3, 2}, {0.1f}, 0, random_bytes(54, 1));
        const auto y = m.tensor({1, result, result, 3}, 1, 0);
        m.op(67, {m.integers({4}, {1, result, result, 3}), w, x}, {y},
             {{0, std::int8_t{0}}, {1, stride}, {2, stride}});
        return parse_tflite(m.file({x}, {y}), "x.tflite");
    };
    EXPECT_THAT([&] { read(5, 2); }, ThrowsMessage<InputError>(HasSubstr("a result of 5 rows")));
    EXPECT_THAT([&] { read(8, 0); }, ThrowsMessage<InputError>(HasSubstr("stride")));
    EXPECT_NO_THROW(read(8, 2));
}

struct Resized {
    int in_height, in_width, height, width;
    bool corners, half;
    int channels = 5;
};
void PrintTo(const Resized& r, std::ostream* out) {
    *out << r.in_height << " x " << r.in_width << " to " << r.height << " x " << r.width
         << (r.corners ? ", corners" : "") << (r.half ? ", half pixels" : "");
}

class TfLiteResize : public ::testing::TestWithParam<Resized> {
  protected:
    /// Of operator `code`: what the reference executor makes, [h][w][c], and what NPUs do.
    std::vector<std::int64_t> resize(std::int32_t code, std::map<std::size_t, Field> options) {
        const Resized& r = GetParam();
        ModelWriter m;
        const auto x = m.tensor({1, r.in_height, r.in_width, r.channels}, 0.05f, -3),
                   y = m.tensor({1, r.height, r.width, r.channels}, 0.05f, -3);
        m.op(code, {x, m.integers({2}, {r.height, r.width})}, {y}, std::move(options));
        const Graph graph = parse_tflite(m.file({x}, {y}), "resize.tflite");
        const int area = r.in_height * r.in_width, out = r.height * r.width;
        image_ = random_bytes(static_cast<std::size_t>(area * r.channels), 3);
        Tensor input(ElementType::kInt8, {1, r.channels, r.in_height, r.in_width});
        for (int i = 0; i < area; ++i)
            for (int c = 0; c < r.channels; ++c)
                input.as<std::int8_t>()[static_cast<std::size_t>(c * area + i)] =
                    static_cast<std::int8_t>(image_[static_cast<std::size_t>(i * r.channels + c)]);
        const std::vector<std::int64_t> planes = run(graph, {input});
        std::vector<std::int64_t> got(planes.size());
        for (int i = 0; i < out; ++i)
            for (int c = 0; c < r.channels; ++c)
                got[static_cast<std::size_t>(i * r.channels + c)] =
                    planes[static_cast<std::size_t>(c * out + i)];
        for (const char* sram : {"sram.size=8192", "sram.size=524288"})
            for (const char* machine : {"npu_mobile", "npu_auto"}) {
                SCOPED_TRACE(machine);
                const RanOnNpu ran = run_on_npu(graph, {.machine = machine, .overrides = {sram}});
                EXPECT_TRUE(ran.checks.at(0).passed) << ran.checks[0].message;
            }
        return got;
    }
    std::int64_t at(int y, int x, int c) const {
        const Resized& r = GetParam();
        return static_cast<std::int8_t>(
            image_[static_cast<std::size_t>((y * r.in_width + x) * r.channels + c)]);
    }

  private:
    Raw image_;
};

/// Written as the reference kernel is: 10 bits of fraction, each product of four by itself.
TEST_P(TfLiteResize, InterpolatesAsTheReferenceKernel) {
    const Resized& r = GetParam();
    const std::vector<std::int64_t> got = resize(
        23, {{2, static_cast<std::int8_t>(r.corners)}, {3, static_cast<std::int8_t>(r.half)}});
    const auto scale = [&](int in, int out) {
        return r.corners && out > 1 ? ((1 << 10) * (in - 1) + (out - 1) / 2) / (out - 1)
                                    : ((1 << 10) * in + out / 2) / out;
    };
    const int scale_y = scale(r.in_height, r.height), scale_x = scale(r.in_width, r.width);
    const auto place = [&](int o, int by, int in, int& value, int& low, int& high) {
        value = r.half ? o * by + by / 2 - (1 << 9) : o * by;
        low = std::max(value / (1 << 10), 0);
        high = std::min((value + (1 << 10) - 1) / (1 << 10), in - 1);
        low = std::min(low, in - 1);
    };
    for (int oy = 0; oy < r.height; ++oy)
        for (int ox = 0; ox < r.width; ++ox)
            for (int c = 0; c < r.channels; ++c) {
                int py, y0, y1, px, x0, x1;
                place(oy, scale_y, r.in_height, py, y0, y1);
                place(ox, scale_x, r.in_width, px, x0, x1);
                const std::int64_t one = 1 << 10;
                const std::int64_t sum =
                    at(y0, x0, c) * (one - (py - one * y0)) * (one - (px - one * x0)) +
                    at(y1, x0, c) * (py - one * y0) * (one - (px - one * x0)) +
                    at(y0, x1, c) * (one - (py - one * y0)) * (px - one * x0) +
                    at(y1, x1, c) * (py - one * y0) * (px - one * x0);
                const std::int64_t round = sum > 0 ? 1 << 19 : -(1 << 19);
                ASSERT_EQ(got[static_cast<std::size_t>((oy * r.width + ox) * r.channels + c)],
                          (sum + round) / (1 << 20))
                    << oy << " " << ox << " " << c;
            }
}

TEST_P(TfLiteResize, TakesTheNearestAsTheReferenceKernel) {
    const Resized& r = GetParam();
    const std::vector<std::int64_t> got = resize(
        97, {{0, static_cast<std::int8_t>(r.corners)}, {1, static_cast<std::int8_t>(r.half)}});
    const auto nearest = [&](int o, int in, int out) {
        const float scale = r.corners && out > 1
                                ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                : static_cast<float>(in) / static_cast<float>(out);
        const float value = (static_cast<float>(o) + (r.half ? 0.5f : 0.0f)) * scale;
        return std::min(static_cast<int>(r.corners ? std::round(value) : std::floor(value)),
                        in - 1);
    };
    for (int oy = 0; oy < r.height; ++oy)
        for (int ox = 0; ox < r.width; ++ox)
            for (int c = 0; c < r.channels; ++c)
                ASSERT_EQ(
                    got[static_cast<std::size_t>((oy * r.width + ox) * r.channels + c)],
                    at(nearest(oy, r.in_height, r.height), nearest(ox, r.in_width, r.width), c));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TfLiteResize,
    ::testing::Values(Resized{4, 6, 8, 12, false, false}, Resized{4, 6, 8, 12, false, true},
                      Resized{4, 6, 8, 12, true, false}, Resized{7, 5, 20, 33, false, true},
                      Resized{7, 5, 20, 33, true, false}, Resized{13, 9, 5, 4, false, false},
                      Resized{13, 9, 5, 4, false, true}, Resized{1, 1, 6, 7, false, true},
                      Resized{6, 5, 1, 1, true, false}, Resized{33, 33, 65, 65, true, false, 16}));

/// All that the reader knows, in one model.
Raw everything() {
    ModelWriter m;
    const auto image = [&](int side, int channels, float scale, int zero) {
        return m.tensor({1, side, side, channels}, scale, zero);
    };
    const auto x = image(8, 4, 0.05f, 2);
    const auto w = m.weights({8, 1, 1, 4}, {0.02f}, 0, random_bytes(32, 5));
    const auto a = image(8, 8, 0.04f, -10);
    m.op(3, {x, w, m.integers({8}, tflite::Numbers32(8, 50))}, {a},
         {{0, std::int8_t{1}}, {1, 1}, {2, 1}, {3, std::int8_t{1}}});
    const auto dw = m.weights({1, 3, 3, 8}, tflite::Reals(8, 0.01f), 3, random_bytes(72, 6));
    const auto d = image(8, 8, 0.03f, 4);
    m.op(4, {a, dw, m.integers({8}, tflite::Numbers32(8, -9))}, {d},
         {{0, std::int8_t{0}}, {1, 1}, {2, 1}, {3, 1}, {4, std::int8_t{0}}});
    const auto sum = image(8, 8, 0.06f, 0), product = image(8, 8, 0.08f, 3);
    m.op(0, {d, a}, {sum}, {{0, std::int8_t{0}}});
    m.op(18, {sum, d}, {product}, {{0, std::int8_t{0}}});
    const auto swish = image(8, 8, 0.05f, -5), logistic = image(8, 8, 1.0f / 256, -128),
               tanh = image(8, 8, 1.0f / 128, 0);
    m.op(117, {product}, {swish});
    m.op(14, {swish}, {logistic});
    m.op(28, {swish}, {tanh});
    const auto leaky = image(8, 8, 0.05f, 1);
    m.op(98, {tanh}, {leaky}, {{0, 0.2f}});
    const auto max = image(4, 8, 1.0f / 256, -128), average = image(4, 8, 0.05f, 1);
    m.op(17, {logistic}, {max}, {{0, std::int8_t{1}}, {1, 2}, {2, 2}, {3, 2}, {4, 2}});
    m.op(1, {leaky}, {average}, {{0, std::int8_t{1}}, {1, 2}, {2, 2}, {3, 2}, {4, 2}});
    const auto requantised = image(4, 8, 0.05f, 1), both = image(4, 16, 0.05f, 1);
    m.op(114, {max}, {requantised});
    m.op(2, {requantised, average}, {both}, {{0, 3}});
    const auto padded = image(6, 16, 0.05f, 1), large = image(12, 16, 0.05f, 1);
    m.op(34, {both, m.integers({4, 2}, {0, 0, 1, 1, 1, 1, 0, 0})}, {padded});
    m.op(97, {padded, m.integers({2}, {12, 12})}, {large});
    const auto smooth = image(20, 16, 0.05f, 1), spread = image(40, 8, 0.1f, -4);
    m.op(23, {large, m.integers({2}, {20, 20})}, {smooth}, {{3, std::int8_t{1}}});
    m.op(67,
         {m.integers({4}, {1, 40, 40, 8}),
          m.weights({8, 3, 3, 16}, tflite::Reals(8, 0.02f), 0, random_bytes(8 * 9 * 16, 8)), smooth,
          m.integers({8}, tflite::Numbers32(8, 77))},
         {spread}, {{0, std::int8_t{0}}, {1, 2}, {2, 2}, {3, std::int8_t{1}}});
    const auto mean = m.tensor({1, 8}, 0.02f, 0), logits = m.tensor({1, 5}, 0.1f, 0),
               p = m.tensor({1, 5}, 1.0f / 256, -128);
    m.op(40, {spread, m.integers({2}, {1, 2})}, {mean});
    m.op(9, {mean, m.weights({5, 8}, tflite::Reals(5, 0.02f), 0, random_bytes(40, 7))}, {logits});
    m.op(25, {logits}, {p}, {{0, 1.0f}});
    return m.file({x}, {p});
}

/// Three operators that have most to check.
Raw resizes_and_transposes() {
    ModelWriter m;
    const auto x = m.tensor({1, 3, 4, 2}, 0.05f, 2), large = m.tensor({1, 6, 8, 2}, 0.05f, 2),
               nearest = m.tensor({1, 5, 5, 2}, 0.05f, 2), y = m.tensor({1, 9, 10, 3}, 0.2f, -1);
    m.op(23, {x, m.integers({2}, {6, 8})}, {large}, {{2, std::int8_t{1}}});
    m.op(97, {large, m.integers({2}, {5, 5})}, {nearest}, {{1, std::int8_t{1}}});
    m.op(67,
         {m.integers({4}, {1, 9, 10, 3}),
          m.weights({3, 2, 2, 2}, {0.1f, 0.2f, 0.3f}, 0, random_bytes(24, 9)), nearest,
          m.integers({3}, {1, 2, 3})},
         {y}, {{0, std::int8_t{0}}, {1, 2}, {2, 2}});
    return m.file({x}, {y});
}

/// The fuzzer begins with these.
TEST(TfLiteReader, SeedsOfTheFuzzerAreWhatTheWriterMakes) {
    const auto text = [](const Raw& bytes) { return std::string(bytes.begin(), bytes.end()); };
    expect_page("tests/fuzz/seeds_tflite/everything", text(everything()));
    expect_page("tests/fuzz/seeds_tflite/resizes_and_transposes", text(resizes_and_transposes()));
}

TEST(TfLiteReader, RunsOnAnNpuToTheBit) {
    for (const char* machine : {"npu_mobile", "nvdla_small"}) {
        const RanOnNpu ran =
            run_on_npu(parse_tflite(everything(), "all.tflite"), {.machine = machine});
        ASSERT_EQ(ran.checks.size(), 1u);
        EXPECT_TRUE(ran.checks[0].passed) << ran.checks[0].message;
    }
}

TEST(TfLiteReader, ListsAllThatItDoesNotKnow) {
    ModelWriter m;
    const auto x = m.tensor({1, 4}, 1, 0), y = m.tensor({1, 4}, 1, 0), z = m.tensor({1, 4}, 1, 0);
    m.op(77, {x}, {y});
    m.op(78, {y}, {z});
    EXPECT_THAT([&] { parse_tflite(m.file({x}, {z}), "x.tflite"); },
                ThrowsMessage<InputError>(
                    ::testing::AllOf(HasSubstr("(code 77)"), HasSubstr("(code 78)"))));
}

TEST(TfLiteReader, RefusesDamagedFiles) {
    const Raw good = resizes_and_transposes();
    EXPECT_THAT([&] { parse_tflite(Raw(good.begin(), good.begin() + 40), "cut.tflite"); },
                ThrowsMessage<InputError>(HasSubstr("cut.tflite: offset 0x")));
    EXPECT_THAT([] { parse_tflite(Raw(64, 0), "zero.tflite"); },
                ThrowsMessage<InputError>(HasSubstr("TFL3")));
    // Every byte turned over: read or refused, nothing else.
    for (const Raw& model : {everything(), good})
        for (std::size_t i = 0; i < model.size(); ++i) {
            Raw bad = model;
            bad[i] ^= 0xff;
            try {
                parse_tflite(bad, "bad.tflite");
            } catch (const InputError&) {
            }
        }
}

}  // namespace
}  // namespace lockstep::network
