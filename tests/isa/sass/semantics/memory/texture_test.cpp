// SPDX-License-Identifier: Apache-2.0
// TEX, TLD, TLD4, SULD and SUST by words that ptxas 13 emits for sm_75 and sm_90: where operands
// and results stand. What is sampled: tests/isa/sass/texture.
#include <gtest/gtest.h>

#include <bit>

#include "isa/sass/texture/footprint.h"
#include "tests/isa/sass/semantics/memory/memory_warp.h"

namespace lockstep::sass {
namespace {

constexpr std::uint32_t kWidth = 8, kHeight = 4;

class TextureTest : public ::testing::Test {
  protected:
    /// An image of channels numbered by row, column and channel.
    std::uint32_t add(TexelKind kind, std::uint8_t channels) {
        Image image{.address = MemoryWarp::kGlobal,
                    .width = kWidth,
                    .height = kHeight,
                    .pitch = 16ull * kWidth,
                    .channels = channels,
                    .kind = kind};
        for (std::uint32_t y = 0; y < kHeight; ++y)
            for (std::uint32_t x = 0; x < kWidth; ++x)
                for (unsigned c = 0; c < channels; ++c) {
                    const std::uint32_t value = value_of(y, x, c);
                    const std::uint32_t bits =
                        kind == TexelKind::kFloat
                            ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                            : value;
                    std::memcpy(host(image.address_of(x, y, 0) + 4 * c), &bits, 4);
                }
        return table.add({.levels = {image}});
    }
    static std::uint32_t value_of(std::uint32_t y, std::uint32_t x, unsigned c) {
        return 100 * y + 10 * x + c;
    }
    std::uint8_t* host(std::uint64_t address) {
        return on.global.data() + (address - MemoryWarp::kGlobal);
    }
    void use(MemoryWarp& warp) { warp.launch.textures = &table; }
    static std::uint32_t real(float value) { return std::bit_cast<std::uint32_t>(value); }

    MemoryWarp on{90};
    TextureTable table;
};

TEST_F(TextureTest, TexTakesItsHandleFromUniformRegisters) {
    use(on);
    on.warp.uniform_row(4) = {};
    for (auto& lane : on.warp.uniform_row(4).lane) lane = add(TexelKind::kFloat, 4);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        on[4].lane[l] = real(static_cast<float>(l % kWidth));
        on[5].lane[l] = real(static_cast<float>(l / kWidth));
        on[6].lane[l] = real(-32);
    }
    TexelFootprint texels;
    on.warp.cta->texels = &texels;
    // TEX.LL R6, R4, R4, R6, UR4, 2D: all four channels.
    ASSERT_TRUE(on.run({0x2000040604047f60, 0x000f6200099e0f06}));
    for (unsigned l = 0; l < kWarpSize; ++l)
        for (unsigned c = 0; c < 4; ++c)
            EXPECT_EQ(on[4 + c].lane[l], real(static_cast<float>(value_of(l / 8, l % 8, c))));
    EXPECT_EQ(texels.taps, 1u);
    EXPECT_EQ(texels.lanes[0], kAllLanes);
    EXPECT_EQ(texels.address[0][9], MemoryWarp::kGlobal + 128 + 16);
    EXPECT_EQ(on.warp.access.width, 16);
}

TEST_F(TextureTest, TexWritesTheChannelsOfItsMask) {
    MemoryWarp old(75);
    old.launch.memory = &on.memory;
    use(old);
    old.constant[0x160 / 4] = add(TexelKind::kFloat, 4);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        old[2].lane[l] = real(2.5f);
        old[3].lane[l] = real(1.5f);
        old[0].lane[l] = real(-32);
    }
    // TEX.SCR.LL R0, R2, R2, R0, c[0x0][0x160], 2D, 0xb: x and y to R2, R3, w to R0.
    ASSERT_TRUE(old.run({0x3000580002027b60, 0x000f4200019e0b00}));
    EXPECT_EQ(old[2].lane[7], real(120));
    EXPECT_EQ(old[3].lane[7], real(121));
    EXPECT_EQ(old[0].lane[7], real(123));
}

TEST_F(TextureTest, TexTakesAHandleOfEachLane) {
    MemoryWarp old(75);
    old.launch.memory = &on.memory;
    use(old);
    const std::uint32_t handle = add(TexelKind::kFloat, 1), other = table.add(*table.find(handle));
    for (unsigned l = 0; l < kWarpSize; ++l) {
        old[8].lane[l] = real(static_cast<float>(l % 8));
        old[9].lane[l] = real(0.5f);
        old[6].lane[l] = l % 2 == 0 ? handle : other;
        old[7].lane[l] = real(-32);
    }
    // TEX.B.SCR.LL R7, R8, R6, 2D, 0x1
    ASSERT_TRUE(old.run({0x3800000608077361, 0x004f4200019e01ff}));
    for (unsigned l = 0; l < kWarpSize; ++l)
        EXPECT_EQ(old[7].lane[l], real(static_cast<float>(10 * (l % 8))));
    old[6].lane[3] = 99;
    EXPECT_THROW(old.execute({0x3800000608077361, 0x004f4200019e01ff}), Fault);
}

TEST_F(TextureTest, TldReadsIntegersByIndex) {
    use(on);
    const std::uint32_t handle = add(TexelKind::kSigned, 4);
    for (auto& lane : on.warp.uniform_row(4).lane) lane = handle;
    for (unsigned l = 0; l < kWarpSize; ++l) on[9].lane[l] = l;
    // TLD.LZ R6, R4, R9, RZ, UR4, 1D
    ASSERT_TRUE(on.run({0x000004ff09047f66, 0x001f6600089e0f06}));
    EXPECT_EQ(on[5].lane[3], 31u);
    EXPECT_EQ(on[7].lane[7], 73u);
    EXPECT_EQ(on[4].lane[8], 0u);  // beyond the row
}

TEST_F(TextureTest, Tld4GathersOneChannelOfFourTexels) {
    use(on);
    const std::uint32_t handle = add(TexelKind::kFloat, 4);
    for (auto& lane : on.warp.uniform_row(4).lane) lane = handle;
    for (unsigned l = 0; l < kWarpSize; ++l) on[4].lane[l] = on[5].lane[l] = real(1);
    // TLD4.G R6, R4, R4, RZ, UR4, 2D
    ASSERT_TRUE(on.run({0x200004ff04047f63, 0x000f6200089e0f06}));
    EXPECT_EQ(on[4].lane[0], real(101));
    EXPECT_EQ(on[5].lane[0], real(111));
    EXPECT_EQ(on[6].lane[0], real(11));
    EXPECT_EQ(on[7].lane[0], real(1));
}

TEST_F(TextureTest, TxdTakesTheLayerAfterTheCoordinates) {
    use(on);
    Texture layered = *table.find(add(TexelKind::kFloat, 1));
    Image& image = layered.levels[0];
    image.height = 2, image.depth = 2;
    image.slice = 2 * image.pitch;
    const std::uint32_t handle = table.add(layered);
    for (auto& lane : on.warp.uniform_row(4).lane) lane = handle;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        on[8].lane[l] = real(static_cast<float>(l % kWidth));
        on[9].lane[l] = real(1);
        on[10].lane[l] = l % 2;
    }
    // TXD R14, R12, R8, R12, UR4, 0x0, ARRAY_2D
    ASSERT_TRUE(on.run({0xa000040c080c7f6c, 0x010f6200081e0f0e}));
    EXPECT_EQ(on[12].lane[4], real(140));
    EXPECT_EQ(on[12].lane[5], real(350));
    MemoryWarp old(80);
    old.launch.memory = &on.memory;
    use(old);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        old[8].lane[l] = handle;
        old[9].lane[l] = real(3);
        old[10].lane[l] = real(0);
        old[11].lane[l] = 1;
    }
    // TXD.B R10, R8, R8, R12, ARRAY_2D
    ASSERT_TRUE(old.run({0xa800000c0808736d, 0x008f4200001e0f0a}));
    EXPECT_EQ(old[8].lane[0], real(230));
}

TEST_F(TextureTest, SurfacesAreReadAndWrittenByBytes) {
    use(on);
    const std::uint32_t handle = add(TexelKind::kUnsigned, 1);
    for (auto& lane : on.warp.uniform_row(4).lane) lane = handle;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        on[4].lane[l] = 4 * (l % 8);
        on[5].lane[l] = 1;
    }
    // SULD.D.BA.2D.TRAP R5, [R4], UR4
    ASSERT_TRUE(on.run({0x7000040004057f99, 0x000f6200081ea900}));
    EXPECT_EQ(on[5].lane[3], 130u);
    on[8].lane[0] = 12, on[9].lane[0] = 2, on[0].lane[0] = 77;
    on[8].lane[1] = 32, on[9].lane[1] = 0, on[0].lane[1] = 78;
    // SUST.D.BA.2D.IGN [R8], R0, UR4: the second lane is beyond the surface.
    ASSERT_TRUE(on.run({0x6000040008007f9d, 0x000fe2000810a900}, 3));
    std::uint32_t stored = 0;
    std::memcpy(&stored, host(MemoryWarp::kGlobal + 2 * 128 + 12), 4);
    EXPECT_EQ(stored, 77u);
    EXPECT_EQ(on.warp.access.lanes, 1u);
    // The same with .TRAP faults.
    EXPECT_FALSE(on.run({0x7000040508007f9d, 0x020fe2000810a900}, 3));
}

TEST_F(TextureTest, SurfacesTakeAHandleOfEachLane) {
    MemoryWarp old(80);
    old.launch.memory = &on.memory;
    use(old);
    const std::uint32_t handle = add(TexelKind::kUnsigned, 1);
    for (unsigned l = 0; l < kWarpSize; ++l) {
        old[34].lane[l] = 4 * (l % 8);
        old[35].lane[l] = 1;
        old[11].lane[l] = handle;
    }
    // SULD.D.BA.2D.STRONG.SM.TRAP R34, [R34], R11
    ASSERT_TRUE(old.run({0x700000002222799a, 0x00321e00001ea90b}));
    EXPECT_EQ(old[34].lane[3], 130u);
    old[10].lane[0] = 12, old[11].lane[0] = 2, old[14].lane[0] = 77, old[7].lane[0] = handle;
    // SUST.D.BA.2D.STRONG.SM.TRAP [R10], R14, R7
    ASSERT_TRUE(old.run({0x7000000e0a00799e, 0x0033de000010a907}, 1));
    std::uint32_t stored = 0;
    std::memcpy(&stored, host(MemoryWarp::kGlobal + 2 * 128 + 12), 4);
    EXPECT_EQ(stored, 77u);
}

}  // namespace
}  // namespace lockstep::sass
