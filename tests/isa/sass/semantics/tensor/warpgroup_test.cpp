// SPDX-License-Identifier: Apache-2.0
// wgmma against plain references: matrices laid out in shared memory by the formulas of PTX ISA and
// CUTLASS (canonical layouts, swizzle, metadata), products by the rule of the dot-product unit
// written out, or by integers. The words are ptxas 13's.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/isa/sass/semantics/tensor/elements.h"
#include "tests/isa/sass/semantics/tensor/matrices.h"
#include "tests/isa/sass/tensor_core/reference_dot_product.h"

namespace lockstep::sass {
namespace {

constexpr unsigned kRegA = 4, kRegD = 24, kMeta = 10, kUr = 8;
constexpr std::uint32_t kSharedBytes = 200 * 1024;
constexpr std::uint32_t kPlaceA = 8 * 1024,
                        kPlaceB = 64 * 1024;  // multiples of every swizzle's atom

/// How a matrix lies in shared memory, and the descriptor that says so.
struct Layout {
    unsigned swizzle;  // bytes: 16 (none), 32, 64, 128
    bool mn_major;
    std::uint32_t start, leading, stride;
    unsigned base_offset = 0;

    std::uint64_t descriptor() const {
        const std::uint64_t type = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
        return (start >> 4 & 0x3fff) | std::uint64_t{leading >> 4 & 0x3fff} << 16 |
               std::uint64_t{stride >> 4 & 0x3fff} << 32 | std::uint64_t{base_offset} << 49 |
               type << 62;
    }
    /// Byte address of element (mn, k) of `bytes` bytes.
    std::uint32_t address(unsigned mn, unsigned k, unsigned bytes) const {
        const unsigned t = 16 / bytes, w = swizzle / 16;
        std::uint32_t offset;
        if (!mn_major) {  // ((8,m),(T,2)):((wT,SBO),(1,LBO or T))
            const unsigned piece = k / t;
            offset = mn % 8 * swizzle + mn / 8 * stride + k % t * bytes;
            offset += w == 1 ? piece * leading : piece % w * 16 + piece / w * leading;
        } else if (w == 1) {  // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
            offset = mn % t * bytes + mn / t * stride + k % 8 * 16 + k / 8 * leading;
        } else {  // ((T,w,m),(8,k)):((1,T,LBO),(wT,SBO))
            offset = mn % t * bytes + mn / t % w * 16 + mn / (t * w) * leading + k % 8 * swizzle +
                     k / 8 * stride;
        }
        const std::uint32_t plain = start + offset;
        const std::uint32_t row = (plain >> 7) - base_offset;  // within the pattern
        return plain ^ (row & (w - 1)) << 4;
    }
};

class Warpgroup : public testing::Test {
  protected:
    Warpgroup() {
        launch.shared_bytes = kSharedBytes;
        cta.launch = &launch;
        cta.shared = shared.data();
        for (unsigned w = 0; w < 4; ++w) {
            warps[w].warp.cta = &cta;
            warps[w].warp.index = w;
            cta.warps.push_back(&warps[w].warp);
        }
    }

    /// A layout that holds `mn` x `k` elements without overlap.
    Layout draw_layout(unsigned mn, unsigned k, unsigned bytes, bool may_transpose,
                       std::uint32_t place) {
        constexpr unsigned kSwizzles[] = {16, 32, 64, 128};
        Layout layout{kSwizzles[random() % 4], may_transpose && random() % 2 == 0, place, 0, 0};
        const unsigned w = layout.swizzle / 16, t = 16 / bytes;
        const unsigned lines = layout.mn_major ? k : mn, pieces = (layout.mn_major ? mn : k) / t;
        const std::uint32_t atom = 8 * layout.swizzle;
        const std::uint32_t pad = layout.swizzle == 16 ? random() % 3 * 16 : random() % 2 * 1024;
        // Atoms side by side along the pieces, then along the lines; or the other way round.
        const unsigned across = (pieces + w - 1) / w, down = (lines + 7) / 8;
        std::uint32_t to_piece, to_line;
        if (random() % 2 == 0) {
            to_piece = atom;
            to_line = across * atom + pad;
        } else {
            to_line = atom;
            to_piece = down * atom + pad;
        }
        const bool exchanged = layout.mn_major && w == 1;
        layout.stride = exchanged ? to_piece : to_line;
        layout.leading = exchanged ? to_line : to_piece;
        if (w > 1 && random() % 4 == 0) {  // a pattern that begins between two multiples
            layout.base_offset = 1 + random() % (w - 1);
            layout.start += layout.base_offset << 7;
        }
        return layout;
    }

    void put(const Layout& layout, Matrix& matrix, bool rows_are_k, unsigned bytes) {
        for (int i = 0; i < matrix.rows; ++i)
            for (int j = 0; j < matrix.columns; ++j) {
                const auto mn = static_cast<unsigned>(rows_are_k ? j : i);
                const auto k = static_cast<unsigned>(rows_are_k ? i : j);
                std::memcpy(shared.data() + layout.address(mn, k, bytes), &matrix.at(i, j), bytes);
            }
    }

    void set_descriptors(std::uint64_t a, std::uint64_t b) {
        for (TestWarp& warp : warps)
            for (unsigned i = 0; i < 2; ++i) {
                const std::uint64_t value = i == 0 ? a : b;
                for (std::uint32_t& lane : warp.warp.uniform_row(kUr + 2 * i).lane)
                    lane = static_cast<std::uint32_t>(value);
                for (std::uint32_t& lane : warp.warp.uniform_row(kUr + 2 * i + 1).lane)
                    lane = static_cast<std::uint32_t>(value >> 32);
            }
    }

    /// A (64 x k as stored) into the registers of the four warps.
    void put_in_registers(Matrix& a, unsigned bits) {
        for (unsigned w = 0; w < 4; ++w)
            for_each_a(16, a.columns, bits, [&](unsigned lane, unsigned i, int row, int k) {
                set_element(warps[w], kRegA, lane, i, bits,
                            a.at(static_cast<int>(16 * w) + row, k));
            });
    }

    /// Calls f(warp, lane, index of the element in D, row, column).
    template <typename F>
    void for_each_result(unsigned columns, F&& f) {
        for (unsigned w = 0; w < 4; ++w)
            for (unsigned lane = 0; lane < 32; ++lane)
                for (unsigned i = 0; i < columns / 2; ++i)
                    f(w, lane, i, static_cast<int>(16 * w + lane / 4 + i / 2 % 2 * 8),
                      static_cast<int>(8 * (i / 4) + lane % 4 * 2 + i % 2));
    }

    Word make(unsigned opcode, bool a_in_registers) {
        Word word{.lo = (a_in_registers ? 0x7c00u : 0x7800u) | 0x100 | opcode, .hi = 0};
        word.set_bits(91, 1, 1);
        word.set_bits(16, 8, kRegD);
        word.set_bits(64, 8, kRegD);
        if (a_in_registers) word.set_bits(24, 8, kRegA);
        word.set_bits(a_in_registers ? 32 : 24, 6, kUr);
        return word;
    }

    std::mt19937 random{11};
    std::vector<std::byte> shared = std::vector<std::byte>(kSharedBytes);
    Launch launch;
    Cta cta;
    std::array<TestWarp, 4> warps;
};

struct FloatCase {
    const char* name;
    unsigned opcode;  // 0xf0 HGMMA, 0xf3 QGMMA
    TensorType a, b;
    bool half, sparse;
};
constexpr TensorType kFp16 = TensorType::kFp16, kBf16 = TensorType::kBf16,
                     kTf32 = TensorType::kTf32, kE4m3 = TensorType::kE4m3,
                     kE5m2 = TensorType::kE5m2;
const FloatCase kFloatCases[] = {
    {"F32", 0xf0, kFp16, kFp16, false, false},
    {"F16", 0xf0, kFp16, kFp16, true, false},
    {"F32.BF16", 0xf0, kBf16, kBf16, false, false},
    {"F32.TF32", 0xf0, kTf32, kTf32, false, false},
    {"F32.E4M3.E4M3", 0xf3, kE4m3, kE4m3, false, false},
    {"F32.E5M2.E4M3", 0xf3, kE5m2, kE4m3, false, false},
    {"F16.E4M3.E5M2", 0xf3, kE4m3, kE5m2, true, false},
    {"SP.F32", 0xf0, kFp16, kFp16, false, true},
    {"SP.F16", 0xf0, kFp16, kFp16, true, true},
    {"SP.F32.BF16", 0xf0, kBf16, kBf16, false, true},
    {"SP.F32.TF32", 0xf0, kTf32, kTf32, false, true},
    {"SP.F32.E4M3.E4M3", 0xf3, kE4m3, kE4m3, false, true},
};

/// Which of four (or, of tf32, two) columns each kept number belongs to.
std::vector<int> draw_kept(std::mt19937& random, bool one_of_two, int stored) {
    std::vector<int> kept;
    for (int j = 0; j < stored; ++j) {
        if (one_of_two) {
            kept.push_back(2 * j + static_cast<int>(random() % 2));
        } else if (j % 2 == 0) {
            kept.push_back(4 * (j / 2) + static_cast<int>(random() % 3));
        } else {
            const int last = kept.back() % 4;
            kept.push_back(4 * (j / 2) + last + 1 + static_cast<int>(random() % (3 - last)));
        }
    }
    return kept;
}

TEST_F(Warpgroup, FloatingPointProductsMatchTheRule) {
    for (const FloatCase& test : kFloatCases) {
        for (int round = 0; round < 16; ++round) {
            const unsigned bytes = width_of(test.a) / 8;
            const bool is_16bit = bytes == 2;
            const bool in_registers = round % 4 == 3;
            const auto stored = static_cast<int>(32 / bytes);
            const int depth = stored * (test.sparse ? 2 : 1);
            const unsigned columns = round == 0 ? 256 : 8 * (1 + random() % 8);
            const bool negate_a = random() % 3 == 0, negate_b = random() % 3 == 0;
            const bool accumulate = random() % 4 != 0;
            const unsigned selector = test.sparse && bytes != 1 ? random() % 2 : 0;

            const auto draw = [&](TensorType type) {
                std::normal_distribution<float> normal;
                return random() % 9 == 0
                           ? 0
                           : encode(type,
                                    std::ldexp(normal(random), static_cast<int>(random() % 7) - 3));
            };
            Matrix a(64, stored), b(depth, static_cast<int>(columns));
            for (std::uint32_t& bits : a.bits) bits = draw(test.a);
            for (std::uint32_t& bits : b.bits) bits = draw(test.b);

            const Layout layout_b =
                draw_layout(columns, static_cast<unsigned>(depth), bytes, is_16bit, kPlaceB);
            put(layout_b, b, true, bytes);
            const Layout layout_a =
                draw_layout(64, static_cast<unsigned>(stored), bytes, is_16bit, kPlaceA);
            if (in_registers)
                put_in_registers(a, 8 * bytes);
            else
                put(layout_a, a, false, bytes);
            set_descriptors(layout_a.descriptor(), layout_b.descriptor());

            Word word = make(test.opcode, in_registers);
            word.set_bits(53, 5, columns / 8 - 1);
            if (test.opcode == 0xf0) {
                word.set_bits(58, 1, test.a == kTf32 && !test.sparse);
                word.set_bits(59, 1, test.a != kTf32 && test.sparse);
                word.set_bits(76, 2, test.a == kBf16 ? 1 : test.a == kTf32 ? 2 : 0);
                word.set_bits(61, 1, !in_registers && layout_a.mn_major);
                word.set_bits(62, 1, layout_b.mn_major);
            } else {
                word.set_bits(58, 1, test.sparse);
                word.set_bits(76, 1, test.a == kE5m2);
                word.set_bits(77, 1, test.b == kE5m2);
            }
            word.set_bits(75, 1, !test.half);
            word.set_bits(72, 1, negate_a);
            word.set_bits(63, 1, negate_b);
            word.set_bits(73, 1, test.sparse);
            word.set_bits(40, 8, test.sparse ? kMeta : 0);
            word.set_bits(48, 1, selector);
            word.set_bits(87, 3, 7);  // UP0
            for (TestWarp& warp : warps)
                warp.warp.predicate[kUniformPredicate0] = accumulate ? kAllLanes : 0;

            std::vector<std::vector<int>> kept;
            for (int row = 0; row < 64; ++row) {
                std::vector<int> all(static_cast<std::size_t>(depth));
                for (int k = 0; k < depth; ++k) all[static_cast<std::size_t>(k)] = k;
                kept.push_back(test.sparse ? draw_kept(random, bytes == 4, stored) : all);
            }
            if (test.sparse) {
                // CUTLASS's ELayout: a lane's word holds 32 bits of consecutive k; of 16-bit and
                // 32-bit types a half for row g and one for row g + 8 from a pair of lanes.
                for (TestWarp& warp : warps) warp[kMeta] = Row{};
                const int per_index = bytes == 4 ? 4 : 2;
                for (int row = 0; row < 64; ++row)
                    for (int j = 0; j < stored; ++j) {
                        const int column =
                            kept[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)];
                        const std::uint32_t bits = bytes == 4 ? (column % 2 != 0 ? 0xe : 0x4)
                                                              : static_cast<unsigned>(column % 4);
                        const int at = per_index * j;  // of the row's bits
                        unsigned lane = static_cast<unsigned>(row % 8) * 4;
                        int shift;
                        if (bytes == 1) {
                            lane += static_cast<unsigned>(row % 16 / 8 + 2 * (at / 32));
                            shift = at % 32;
                        } else {
                            lane += 2 * selector + static_cast<unsigned>(at / 16);
                            shift = row % 16 / 8 * 16 + at % 16;
                        }
                        warps[static_cast<std::size_t>(row / 16)][kMeta].lane[lane] |= bits
                                                                                       << shift;
                    }
            }

            Matrix c(64, static_cast<int>(columns));
            const unsigned width_d = test.half ? 16 : 32;
            for_each_result(columns, [&](unsigned w, unsigned lane, unsigned i, int row, int n) {
                c.at(row, n) = draw(test.half ? kFp16 : kTf32);
                set_element(warps[w], kRegD, lane, i, width_d, c.at(row, n));
            });
            for (TestWarp& warp : warps) ASSERT_TRUE(warp.run(word)) << test.name;

            const DotProductRule rule = dot_product_rule(90, test.a, test.half);
            for_each_result(columns, [&](unsigned w, unsigned lane, unsigned i, int row, int n) {
                if (n >= 24 && (row + n) % 5 != 0) return;  // enough
                std::vector<double> x, y;
                for (int j = 0; j < stored; ++j) {
                    const double sign = negate_a != negate_b ? -1 : 1;
                    x.push_back(sign * value_of(test.a, a.at(row, j)));
                    y.push_back(value_of(
                        test.b,
                        b.at(kept[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)], n)));
                }
                const double addend = !accumulate ? 0
                                      : test.half ? value_of(kFp16, c.at(row, n))
                                                  : std::bit_cast<float>(c.at(row, n));
                const double expected = reference_dot_product(rule, test.a, test.b, x, y, addend);
                const std::uint32_t bits = get_element(warps[w], kRegD, lane, i, width_d);
                const double result =
                    test.half ? value_of(kFp16, bits) : std::bit_cast<float>(bits);
                ASSERT_EQ(result, expected)
                    << test.name << " row " << row << " column " << n << " of " << columns
                    << (in_registers ? " A in registers" : "") << " swizzles " << layout_a.swizzle
                    << " " << layout_b.swizzle << " mn-major " << layout_a.mn_major << " "
                    << layout_b.mn_major << " base offsets " << layout_a.base_offset << " "
                    << layout_b.base_offset;
            });
            if (HasFatalFailure()) return;
        }
    }
}

TEST_F(Warpgroup, IntegerProductsAreExact) {
    constexpr unsigned kColumns[] = {8,   16,  24,  32,  48,  64,  80,  96,  112,
                                     128, 144, 160, 176, 192, 208, 224, 240, 256};
    for (int round = 0; round < 40; ++round) {
        const unsigned shape = random() % std::size(kColumns), columns = kColumns[shape];
        const bool in_registers = round % 4 == 3, sparse = round % 5 == 4;
        const bool signed_a = random() % 2, signed_b = random() % 2, saturates = random() % 2;
        const int stored = 32, depth = sparse ? 64 : 32;
        Matrix a(64, stored), b(depth, static_cast<int>(columns)), c(64, static_cast<int>(columns));
        for (std::uint32_t& bits : a.bits) bits = random() & 0xff;
        for (std::uint32_t& bits : b.bits) bits = random() & 0xff;
        const Layout layout_a = draw_layout(64, 32, 1, false, kPlaceA);
        const Layout layout_b =
            draw_layout(columns, static_cast<unsigned>(depth), 1, false, kPlaceB);
        put(layout_b, b, true, 1);
        if (in_registers)
            put_in_registers(a, 8);
        else
            put(layout_a, a, false, 1);
        set_descriptors(layout_a.descriptor(), layout_b.descriptor());
        Word word = make(0xf1, in_registers);
        word.set_bits(53, 6, 3 * shape + sparse);
        word.set_bits(73, 1, sparse);
        word.set_bits(75, 1, saturates);
        word.set_bits(76, 1, signed_a);
        word.set_bits(82, 1, signed_b);
        word.set_bits(40, 8, sparse ? kMeta : 0);
        std::vector<std::vector<int>> kept;
        for (TestWarp& warp : warps) warp[kMeta] = Row{};
        for (int row = 0; row < 64; ++row) {
            kept.push_back(draw_kept(random, false, stored));
            for (int j = 0; j < stored; ++j) {
                int& column = kept.back()[static_cast<std::size_t>(j)];
                if (!sparse) column = j;
                warps[static_cast<std::size_t>(row / 16)][kMeta]
                    .lane[row % 8 * 4 + row % 16 / 8 + 2 * (j / 16)] |=
                    static_cast<unsigned>(column % 4) << 2 * (j % 16);
            }
        }
        for_each_result(columns, [&](unsigned w, unsigned lane, unsigned i, int row, int n) {
            c.at(row, n) = random() % 3 == 0 ? 0x7fffffff - random() % 64 : random();
            warps[w][kRegD + i].lane[lane] = c.at(row, n);
        });
        for (TestWarp& warp : warps) ASSERT_TRUE(warp.run(word));
        const auto value = [](std::uint32_t bits, bool is_signed) -> std::int64_t {
            return is_signed ? static_cast<std::int8_t>(bits) : static_cast<std::uint8_t>(bits);
        };
        for_each_result(columns, [&](unsigned w, unsigned lane, unsigned i, int row, int n) {
            std::int64_t sum = static_cast<std::int32_t>(c.at(row, n));
            for (int j = 0; j < stored; ++j)
                sum +=
                    value(a.at(row, j), signed_a) *
                    value(b.at(kept[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)], n),
                          signed_b);
            if (saturates)
                sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max());
            ASSERT_EQ(warps[w][kRegD + i].lane[lane], static_cast<std::uint32_t>(sum))
                << "row " << row << " column " << n << " of " << columns;
        });
    }
}

TEST_F(Warpgroup, BitProductsCountCommonOnes) {
    for (const bool in_registers : {false, true}) {
        const unsigned columns = 48;
        Matrix a(64, 32), b(32, columns);  // bytes
        for (std::uint32_t& bits : a.bits) bits = random() & 0xff;
        for (std::uint32_t& bits : b.bits) bits = random() & 0xff;
        const Layout layout_a = draw_layout(64, 32, 1, false, kPlaceA);
        const Layout layout_b = draw_layout(columns, 32, 1, false, kPlaceB);
        put(layout_b, b, true, 1);
        put(layout_a, a, false, 1);
        if (in_registers) put_in_registers(a, 8);
        set_descriptors(layout_a.descriptor(), layout_b.descriptor());
        Word word = make(0xf2, in_registers);
        word.set_bits(53, 6, 4);
        word.set_bits(77, 2, 2);
        word.set_bits(80, 1, 1);
        for_each_result(columns, [&](unsigned w, unsigned lane, unsigned i, int row, int n) {
            warps[w][kRegD + i].lane[lane] = static_cast<std::uint32_t>(row * 1000 + n);
        });
        for (TestWarp& warp : warps) ASSERT_TRUE(warp.run(word));
        for_each_result(columns, [&](unsigned w, unsigned lane, unsigned i, int row, int n) {
            auto sum = static_cast<std::uint32_t>(row * 1000 + n);
            for (int k = 0; k < 32; ++k)
                sum += static_cast<std::uint32_t>(std::popcount(a.at(row, k) & b.at(k, n)));
            ASSERT_EQ(warps[w][kRegD + i].lane[lane], sum) << row << " " << n;
        });
    }
}

TEST_F(Warpgroup, WithoutAddendTheResultIsTheProduct) {
    Word word = make(0xf0, false);
    word.set_bits(75, 1, 1);
    word.set_bits(64, 8, kRegisterRZ);  // what ptxas makes of scale-d 0
    word.set_bits(90, 1, 1);            // !UPT
    set_descriptors(Layout{16, false, kPlaceA, 128, 256}.descriptor(),
                    Layout{16, false, kPlaceB, 128, 256}.descriptor());
    for (TestWarp& warp : warps) {
        for (unsigned i = 0; i < 4; ++i)
            for (std::uint32_t& lane : warp[kRegD + i].lane) lane = 0x40000000;
        ASSERT_TRUE(warp.run(word));
        for (unsigned i = 0; i < 4; ++i)
            for (const std::uint32_t lane : warp[kRegD + i].lane) EXPECT_EQ(lane, 0u);
    }
}

TEST_F(Warpgroup, AWaitIsOverWhenAllFourHaveComeToTheProducts) {
    Word product = make(0xf0, false);  // gsb0: the group is committed
    product.set_bits(75, 1, 1);
    const Word wait{.lo = 0x00008000'000079c5, .hi = 0x000fc800'00010000};  // .LE gsb0, 0x0
    const Word wait_for_all_but_one{.lo = wait.lo, .hi = wait.hi + 0x100};
    set_descriptors(Layout{16, false, kPlaceA, 128, 256}.descriptor(),
                    Layout{16, false, kPlaceB, 128, 256}.descriptor());
    for (TestWarp& warp : warps) warp.warp.live = warp.warp.active = kAllLanes;
    const auto goes_on = [&](const Word& word) {
        warps[0].warp.pc = 5;  // of the next instruction
        EXPECT_TRUE(warps[0].run(word));
        return warps[0].warp.pc == 5;
    };
    EXPECT_TRUE(goes_on(wait));  // for nothing
    ASSERT_TRUE(warps[0].run(product));
    EXPECT_TRUE(goes_on(wait_for_all_but_one));
    EXPECT_FALSE(goes_on(wait));
    EXPECT_TRUE(warps[0].warp.has_yielded);
    ASSERT_TRUE(warps[1].run(product));
    ASSERT_TRUE(warps[2].run(product));
    EXPECT_FALSE(goes_on(wait));
    warps[3].warp.live = 0;  // it has exited
    EXPECT_TRUE(goes_on(wait));
    warps[3].warp.live = kAllLanes;
    ASSERT_TRUE(warps[3].run(product));
    EXPECT_TRUE(goes_on(wait));
}

// HGMMA.64x8x16.F16 RZ, gdesc [URZ], RZ, !UPT, gsb0: ptxas 13's commit_group behind a loop.
TEST_F(Warpgroup, AGroupMayEndWithoutAProduct) {
    const Word end{.lo = 0x00000000'3fff79f0, .hi = 0x000fe200'0c0000ff};
    const Word wait{.lo = 0x00008000'000079c5, .hi = 0x000fc800'00010000};  // .LE gsb0, 0x0
    for (TestWarp& warp : warps) warp.warp.live = warp.warp.active = kAllLanes;
    ASSERT_TRUE(warps[0].run(end));
    warps[0].warp.pc = 5;
    ASSERT_TRUE(warps[0].run(wait));
    EXPECT_NE(warps[0].warp.pc, 5u) << "the others have not come";
    for (unsigned w = 1; w < 4; ++w) ASSERT_TRUE(warps[w].run(end));
    warps[0].warp.pc = 5;
    ASSERT_TRUE(warps[0].run(wait));
    EXPECT_EQ(warps[0].warp.pc, 5u);
    EXPECT_FALSE(warps[0].run(end, 0x7fffffff)) << "needs all lanes, as products do";
}

TEST_F(Warpgroup, ADescriptorBeyondSharedMemoryFaults) {
    launch.shared_bytes = kPlaceB + 8 * 32 - 16;
    Word word = make(0xf0, false);
    word.set_bits(75, 1, 1);
    set_descriptors(Layout{16, false, kPlaceA, 128, 256}.descriptor(),
                    Layout{16, false, kPlaceB, 128, 256}.descriptor());
    try {
        warps[0].execute(word);
        FAIL();
    } catch (const Fault& fault) {
        EXPECT_EQ(fault.kind, FaultKind::kIllegalAddress);
        EXPECT_NE(fault.what.find("beyond the"), std::string::npos) << fault.what;
        EXPECT_EQ(fault.address, kPlaceB + 8 * 32 - 16);
    }
}

TEST_F(Warpgroup, NeedsFourWholeWarps) {
    Word word = make(0xf0, false);
    word.set_bits(75, 1, 1);
    set_descriptors(Layout{16, false, kPlaceA, 128, 256}.descriptor(),
                    Layout{16, false, kPlaceB, 128, 256}.descriptor());
    EXPECT_FALSE(warps[0].run(word, 0x7fffffff));
    cta.warps.pop_back();
    EXPECT_FALSE(warps[0].run(word));
}

// Forms that no compiler emits are refused, never guessed.
TEST_F(Warpgroup, RefusesWhatIsNotKnown) {
    const auto refused = [&](std::initializer_list<Field> fields) {
        Word word = make(0xf0, false);
        word.set_bits(75, 1, 1);
        for (const Field& field : fields) word.set_bits(field.first, field.count, field.value);
        return !warps[0].run(word);
    };
    set_descriptors(Layout{16, false, kPlaceA, 128, 256}.descriptor(),
                    Layout{16, false, kPlaceB, 128, 256}.descriptor());
    EXPECT_FALSE(refused({}));
    EXPECT_TRUE(refused({{76, 2, 3}}));                          // no such type
    EXPECT_TRUE(refused({{58, 1, 1}}));                          // k of 8 with fp16
    EXPECT_TRUE(refused({{16, 8, kRegisterRZ}}));                // no destination
    EXPECT_TRUE(refused({{16, 8, 252}}));                        // beyond R254
    EXPECT_TRUE(refused({{73, 1, 1}, {59, 1, 1}, {74, 1, 1}}));  // .REGOFFSET
}

}  // namespace
}  // namespace lockstep::sass
