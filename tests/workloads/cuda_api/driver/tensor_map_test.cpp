// SPDX-License-Identifier: Apache-2.0
// Fields of a map by what ptxas writes into one, and the checks by cuda.h.
#include "workloads/cuda_api/driver/tensor_map.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::cuda::driver {
namespace {

/// A matrix of halves with 3 rows of 256 elements, taken in boxes of 64 x 2.
TensorShape matrix() {
    TensorShape shape;
    shape.type = kF16;
    shape.rank = 2;
    shape.address = 0x7f0012345600;
    shape.dimensions = {256, 3};
    shape.strides = {512};
    shape.element_strides = {1, 1};
    return shape;
}
constexpr TensorBox kBox = {64, 2};

template <class T>
T field(const TensorMap& map, std::size_t at) {
    T value;
    std::memcpy(&value, reinterpret_cast<const char*>(&map) + at, sizeof(value));
    return value;
}

TEST(TensorMap, FieldsLieWhereTheMachineReadsThem) {
    TensorShape shape = matrix();
    TensorMap map = encode(shape, kBox);
    EXPECT_EQ(field<std::uint64_t>(map, 0), 0x7f0012345600u);
    EXPECT_EQ(field<std::uint16_t>(map, 8),
              0x0310);  // what ptxas writes for fp16 in two dimensions
    EXPECT_EQ(field<std::uint32_t>(map, 0x0c), 512u / 16);
    EXPECT_EQ(field<std::uint32_t>(map, 0x20), 255u);
    EXPECT_EQ(field<std::uint32_t>(map, 0x24), 2u);
    EXPECT_EQ(field<std::uint8_t>(map, 0x37), 63);
    EXPECT_EQ(field<std::uint8_t>(map, 0x38), 1);
    shape.type = kF32;
    shape.swizzle = kSwizzle128;
    shape.fill = kFillNan;
    map = encode(shape, TensorBox{32, 2});
    EXPECT_EQ(field<std::uint16_t>(map, 8), 0x0390 | 3 << 13 | 1 << 15);
}

TEST(TensorMap, LongStridesAndStepsBetweenElements) {
    TensorShape shape = matrix();
    shape.rank = 3;
    shape.dimensions = {256, 3, 7};
    shape.strides = {512, 0x12'3456'7890};
    shape.element_strides = {1, 2, 8};
    const TensorMap map = encode(shape, TensorBox{64, 2, 1});
    EXPECT_EQ(field<std::uint32_t>(map, 0x10), 0x2345'6789u);
    EXPECT_EQ(field<std::uint32_t>(map, 0x1c), 0x1u << 4);
    EXPECT_EQ(field<std::uint32_t>(map, 0x34) & 0x7fff, 0u | 1 << 3 | 7 << 6);
    EXPECT_EQ(field<std::uint8_t>(map, 0x37), 63);
}

TEST(TensorMap, WrongShapesAreRefused) {
    EXPECT_TRUE(is_valid(matrix(), kBox));
    const auto refused = [](auto change, TensorBox box = kBox) {
        TensorShape shape = matrix();
        change(shape);
        return !is_valid(shape, box);
    };
    const auto same = [](TensorShape&) {};
    EXPECT_TRUE(refused([](TensorShape& s) { s.address += 8; }));
    EXPECT_FALSE(refused([](TensorShape& s) { s.address = 0; }));  // a kernel is to set it
    EXPECT_TRUE(refused([](TensorShape& s) { s.rank = 0; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.rank = 6; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.dimensions[1] = 0; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.dimensions[1] = (1ull << 32) + 1; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.strides[0] = 520; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.strides[0] = 1ull << 40; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.element_strides[1] = 9; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.interleave = kInterleave16; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.type = kTensorTypes; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.type = kU16, s.fill = kFillNan; }));
    EXPECT_TRUE(refused([](TensorShape& s) { s.swizzle = kSwizzle64; }));  // rows of 128 bytes
    EXPECT_FALSE(refused([](TensorShape& s) { s.swizzle = kSwizzle128; }));
    EXPECT_FALSE(refused([](TensorShape& s) { s.element_strides[0] = 0; }));  // ignored
    EXPECT_TRUE(refused(same, {64, 257}));
    EXPECT_TRUE(refused(same, {64, 0}));
    EXPECT_TRUE(refused(same, {4, 2}));  // 8 bytes
}

TEST(TensorMap, Im2colHasRangesByRank) {
    TensorShape shape = matrix();
    shape.rank = 4;
    shape.dimensions = {64, 28, 28, 8};
    shape.strides = {128, 128 * 28, 128 * 28 * 28};
    shape.element_strides = {1, 1, 1, 1};
    EXPECT_TRUE(is_valid(shape, Im2col{{-1, -1}, {1, 1}, 64, 128}));
    EXPECT_TRUE(is_valid(shape, Im2col{{-128, -1}, {127, 1}, 64, 1024}));
    EXPECT_FALSE(is_valid(shape, Im2col{{-129, -1}, {1, 1}, 64, 128}));
    EXPECT_FALSE(is_valid(shape, Im2col{{14, 0}, {-14, 0}, 64, 128}));  // nothing left
    EXPECT_FALSE(is_valid(shape, Im2col{{0, 0}, {0, 0}, 64, 1025}));
    EXPECT_FALSE(is_valid(shape, Im2col{{0, 0}, {0, 0}, 257, 128}));
    const TensorMap map = encode(shape, Im2col{{-1, -1}, {1, 1}, 64, 128});
    const TensorMap other = encode(shape, Im2col{{-1, 0}, {1, 1}, 64, 128});
    EXPECT_NE(0, std::memcmp(&map, &other, sizeof(map)));
    shape.rank = 2;
    EXPECT_FALSE(is_valid(shape, Im2col{{0, 0}, {0, 0}, 64, 128}));
}

}  // namespace
}  // namespace lockstep::cuda::driver
