// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of random maps against a reference that goes element by element; the maps' bits;
// what breaks a rule.
#include "isa/sass/tma/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "isa/sass/semantics/mbarrier.h"
#include "sim/numerics/tf32.h"
#include "tests/isa/sass/semantics/memory/memory_warp.h"
#include "tests/isa/sass/tma/random_map.h"

namespace lockstep::sass {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kTensor = 0x3000'0000'0000;
constexpr std::uint32_t kTile = 0x400, kSharedBytes = 0x20000, kMostTile = 0x10000;

/// A CTA with a tensor in memory.
class CopyTest : public testing::Test {
  protected:
    CopyTest() : shared_(kSharedBytes) {
        launch_.memory = &memory_;
        launch_.shared_bytes = kSharedBytes;
        cta_.launch = &launch_;
        cta_.shared = reinterpret_cast<std::byte*>(shared_.data());
        warp_.cta = &cta_;
        cta_.warps = {&warp_};
    }

    AsyncCopy copy(CopyKind kind, const TensorMap& map) {
        AsyncCopy copy;
        copy.kind = kind;
        copy.is_tensor = true;
        copy.map = map;
        copy.source = copy.target = &cta_;
        copy.from = copy.to = kTile;
        copy.mbarrier = 0;
        copy.bytes = BoxRows::tile_bytes(map);
        return copy;
    }
    void fill(std::vector<std::uint8_t>& bytes, unsigned seed) {
        std::mt19937 random(seed);
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    }

    FakeMemory memory_;
    Launch launch_;
    Cta cta_;
    Warp warp_;
    std::vector<std::uint8_t> shared_;
};

/// What the hardware makes of an element on its way to shared memory.
std::uint64_t converted(TensorType type, std::uint64_t bits) {
    auto word = static_cast<std::uint32_t>(bits);
    if ((type == TensorType::kF32Ftz || type == TensorType::kTf32Ftz) && (word >> 23 & 0xff) == 0)
        return word & 0x80000000u;
    if (type == TensorType::kTf32 || type == TensorType::kTf32Ftz)
        return numerics::fp32_to_tf32(std::bit_cast<float>(word), numerics::Rounding::kNearestEven);
    return bits;
}

TEST_F(CopyTest, LoadsAreWhatAReferenceReads) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        RandomMap random(seed);
        const TensorMap map = random.map(kTensor, kMostTile);
        ASSERT_EQ(broken_rule(map), "");
        auto& tensor = memory_.add(kTensor, RandomMap::bytes_of(map));
        fill(tensor, seed);
        fill(shared_, seed + 1);
        AsyncCopy load = copy(CopyKind::kLoad, map);
        load.coordinate = random.coordinates(map);
        load.offset = random.offsets();
        const unsigned element = element_bytes(map.type);
        const std::uint64_t elements = RandomMap::tile_elements(map);
        ASSERT_EQ(load.bytes, elements * element);
        std::vector<std::uint8_t> want = shared_;
        for (std::uint64_t e = 0; e < elements; ++e) {
            std::uint64_t bits = map.fills_nan ? ~0ull >> 1 >> (64 - 8 * element) : 0;
            if (const auto from = RandomMap::address(map, load.coordinate, load.offset, e)) {
                bits = 0;
                std::memcpy(&bits, &tensor[*from - kTensor], element);
                bits = converted(map.type, bits);
            }
            std::memcpy(&want[RandomMap::swizzle(kTile + e * element, map.swizzle)], &bits,
                        element);
        }
        check_copy(load, memory_);
        perform_copy(load);
        ASSERT_EQ(shared_, want) << "seed " << seed;
    }
}

TEST_F(CopyTest, StoresAndReductionsLeaveTheOutsideAlone) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        RandomMap random(seed + 1000);
        const TensorMap map = random.map(kTensor, kMostTile);
        auto& tensor = memory_.add(kTensor, RandomMap::bytes_of(map));
        fill(tensor, seed);
        fill(shared_, seed + 1);
        const auto op = static_cast<AtomicOp>(random.pick(8));
        const bool reduces = random.pick(2) == 0 && reduction(map.type, op) != nullptr;
        AsyncCopy store = copy(reduces ? CopyKind::kReduce : CopyKind::kStore, map);
        if (reduces) store.reduce = reduction(map.type, op);
        store.coordinate = random.coordinates(map);
        const unsigned element = element_bytes(map.type);
        std::vector<std::uint8_t> want = tensor;
        for (std::uint64_t e = 0; e < RandomMap::tile_elements(map); ++e) {
            const auto to = RandomMap::address(map, store.coordinate, {}, e);
            if (!to) continue;
            auto* const at = reinterpret_cast<std::byte*>(&want[*to - kTensor]);
            const auto* const from = reinterpret_cast<const std::byte*>(
                &shared_[RandomMap::swizzle(kTile + e * element, map.swizzle)]);
            if (reduces)
                store.reduce(at, from, element);
            else
                std::memcpy(at, from, element);
        }
        check_copy(store, memory_);
        perform_copy(store);
        ASSERT_EQ(tensor, want) << "seed " << seed;
    }
}

TEST(TensorMapBits, EncodingAndDecodingAreInverse) {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        RandomMap random(seed);
        const TensorMap map = random.map(0x7000'0000'0000 + 16 * random.pick(1 << 20), kMostTile);
        std::byte bytes[kTensorMapBytes], again[kTensorMapBytes];
        encode_tensor_map(map, bytes);
        const TensorMap read = decode_tensor_map(bytes);
        EXPECT_EQ(read.address, map.address);
        EXPECT_EQ(read.is_im2col, map.is_im2col);
        EXPECT_EQ(BoxRows::tile_bytes(read), BoxRows::tile_bytes(map));
        for (unsigned i = 0; i < map.rank; ++i) EXPECT_EQ(read.size[i], map.size[i]);
        for (unsigned i = 0; i + 1 < map.rank; ++i) EXPECT_EQ(read.stride[i], map.stride[i]);
        encode_tensor_map(read, again);
        EXPECT_EQ(std::memcmp(bytes, again, sizeof bytes), 0);
    }
}

TEST(TensorMapBits, AnyBytesAreAMapThatKeepsTheRulesOrNamesOne) {
    std::mt19937 random(1);
    unsigned valid = 0;
    for (unsigned i = 0; i < 20000; ++i) {
        std::byte bytes[kTensorMapBytes];
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
        const TensorMap map = decode_tensor_map(bytes);
        if (!broken_rule(map).empty()) continue;
        ++valid;
        BoxRows rows(map, {});
        BoxRow row;
        std::uint64_t sum = 0;
        for (unsigned k = 0; k < 1000 && rows.next(row); ++k) {
            sum += row.bytes;
            ASSERT_LE(row.first + row.count, row.bytes);
        }
        ASSERT_GT(sum, 0u);
    }
    EXPECT_GT(valid, 10u);
}

/// NC/8HWC8 of 16-bit channels: 20 channels lie in three slices.
TEST_F(CopyTest, InterleavedChannelsLieInSlices) {
    TensorMap map;
    map.address = kTensor;
    map.rank = 4;  // C, W, H, N
    map.type = TensorType::kU16;
    map.interleave = TensorInterleave::k16;
    map.size = {20, 3, 2, 2};
    map.stride = {16, 48, 3 * 96};  // a slice is 2 x 3 pixels of 16 bytes
    map.box = {16, 2, 2, 1};
    map.step = {1, 1, 1, 1};
    ASSERT_EQ(broken_rule(map), "");
    auto& tensor = memory_.add(kTensor, 2 * 3 * 96);
    const auto channel = [](unsigned n, unsigned c, unsigned h, unsigned w) {
        return static_cast<std::uint16_t>(1000 * n + 100 * h + 10 * w + c * 7 + 1);
    };
    for (unsigned n = 0; n < 2; ++n)
        for (unsigned c = 0; c < 20; ++c)
            for (unsigned h = 0; h < 2; ++h)
                for (unsigned w = 0; w < 3; ++w) {
                    const std::uint16_t value = channel(n, c, h, w);
                    std::memcpy(&tensor[n * 288 + c / 8 * 96 + h * 48 + w * 16 + c % 8 * 2], &value,
                                2);
                }
    AsyncCopy load = copy(CopyKind::kLoad, map);
    EXPECT_EQ(load.bytes, 2u * 2 * 2 * 16);
    load.coordinate = {8, 1, 0, 1};
    check_copy(load, memory_);
    perform_copy(load);
    for (unsigned slice = 0; slice < 2; ++slice)
        for (unsigned h = 0; h < 2; ++h)
            for (unsigned w = 0; w < 2; ++w)
                for (unsigned i = 0; i < 8; ++i) {
                    const unsigned c = 8 + slice * 8 + i;
                    std::uint16_t got;
                    std::memcpy(&got, &shared_[kTile + ((slice * 2 + h) * 2 + w) * 16 + i * 2], 2);
                    EXPECT_EQ(got, c < 20 ? channel(1, c, h, 1 + w) : 0);
                }
    load.coordinate[0] = 4;
    EXPECT_THROW(check_copy(load, memory_), Fault);
}

TEST_F(CopyTest, BytesOutsideCountAsDelivered) {
    TensorMap map;
    map.address = kTensor;
    map.type = TensorType::kF32;
    map.size = {4};
    map.box = {32};
    map.step = {1};
    memory_.add(kTensor, 16);
    AsyncCopy load = copy(CopyKind::kLoad, map);
    Mbarrier barrier = Mbarrier::of(1);
    barrier.arrive(1, 128);
    std::uint64_t bits = barrier.bits();
    std::memcpy(shared_.data(), &bits, sizeof bits);
    EXPECT_FALSE(barrier.phase());
    perform_copy(load);
    report_copy(load);
    std::memcpy(&bits, shared_.data(), sizeof bits);
    EXPECT_TRUE(Mbarrier(bits).phase());
}

TEST_F(CopyTest, BrokenRulesAreNamed) {
    TensorMap map;
    map.address = kTensor;
    map.rank = 2;
    map.type = TensorType::kF32;
    map.size = {64, 8};
    map.stride = {256};
    map.box = {32, 4};
    map.step = {1, 1};
    EXPECT_EQ(broken_rule(map), "");
    const auto rule = [&](auto change) {
        TensorMap changed = map;
        change(changed);
        return broken_rule(changed);
    };
    EXPECT_THAT(rule([](TensorMap& m) { m.address += 8; }), HasSubstr("not a multiple of 16"));
    EXPECT_THAT(rule([](TensorMap& m) { m.rank = 6; }), HasSubstr("more than 5"));
    EXPECT_THAT(rule([](TensorMap& m) { m.box[0] = 3; }), HasSubstr("rows of 12 bytes"));
    EXPECT_THAT(rule([](TensorMap& m) { m.swizzle = TensorSwizzle::k64; }),
                HasSubstr("longer than the 64-byte swizzle"));
    EXPECT_THAT(rule([](TensorMap& m) { m.type = TensorType::kU32, m.fills_nan = true; }),
                HasSubstr("NaN"));
    const auto fault = [&](AsyncCopy copy) {
        try {
            check_copy(copy, memory_);
        } catch (const Fault& caught) {
            return caught.what;
        }
        return std::string("none");
    };
    memory_.add(kTensor, 7 * 256 + 256);
    AsyncCopy load = copy(CopyKind::kLoad, map);
    EXPECT_EQ(fault(load), "none");
    load.to = kTile + 64;
    EXPECT_THAT(fault(load), HasSubstr("not a multiple of 128"));
    load.to = kSharedBytes;
    EXPECT_THAT(fault(load), HasSubstr("of which the CTA has"));
    load.to = kTile;
    load.mbarrier = 4;
    EXPECT_THAT(fault(load), HasSubstr("the mbarrier"));
    load.mbarrier = 0;
    load.map.size[1] = 100;
    load.coordinate = {0, 30};
    EXPECT_THAT(fault(load), HasSubstr("global memory"));
}

TEST(Reduction, KnowsWhatTypesHave) {
    EXPECT_NE(reduction(TensorType::kF32, AtomicOp::kAdd), nullptr);
    EXPECT_EQ(reduction(TensorType::kF32, AtomicOp::kMin), nullptr);
    EXPECT_EQ(reduction(TensorType::kU8, AtomicOp::kAdd), nullptr);
    EXPECT_EQ(reduction(TensorType::kS32, AtomicOp::kInc), nullptr);
    const std::uint32_t operand[] = {1u << 31, 5};
    std::uint32_t value[] = {7, 6};
    reduction(TensorType::kS32, AtomicOp::kMin)(reinterpret_cast<std::byte*>(value),
                                                reinterpret_cast<const std::byte*>(operand), 8);
    EXPECT_EQ(value[0], 1u << 31);
    EXPECT_EQ(value[1], 5u);
}

}  // namespace
}  // namespace lockstep::sass
