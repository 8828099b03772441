// SPDX-License-Identifier: Apache-2.0
// Models made by the writer: what the reader makes of them, against plain loops over NHWC with
// TensorFlow Lite's arithmetic, and on an NPU.
#include "workloads/network/tflite/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
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
    const auto mean = m.tensor({1, 16}, 0.02f, 0), logits = m.tensor({1, 5}, 0.1f, 0),
               p = m.tensor({1, 5}, 1.0f / 256, -128);
    m.op(40, {large, m.integers({2}, {1, 2})}, {mean});
    m.op(9, {mean, m.weights({5, 16}, tflite::Reals(5, 0.02f), 0, random_bytes(80, 7))}, {logits});
    m.op(25, {logits}, {p}, {{0, 1.0f}});
    return m.file({x}, {p});
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
    const Raw good = everything();
    EXPECT_THAT([&] { parse_tflite(Raw(good.begin(), good.begin() + 40), "cut.tflite"); },
                ThrowsMessage<InputError>(HasSubstr("cut.tflite: offset 0x")));
    EXPECT_THAT([] { parse_tflite(Raw(64, 0), "zero.tflite"); },
                ThrowsMessage<InputError>(HasSubstr("TFL3")));
    // Every byte turned over: read or refused, nothing else.
    for (std::size_t i = 0; i < good.size(); ++i) {
        Raw bad = good;
        bad[i] ^= 0xff;
        try {
            parse_tflite(bad, "bad.tflite");
        } catch (const InputError&) {
        }
    }
}

}  // namespace
}  // namespace lockstep::network
