// SPDX-License-Identifier: Apache-2.0
// Memory instructions and system calls of compiled kernels (data/memory.cu) against host results.
#include <gmock/gmock.h>

#include <numeric>

#include "sim/numerics/fp16.h"
#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class Memory : public testing::TestWithParam<Target> {
  protected:
    Memory()
        : runner(GetParam().machine, std::string("memory_") + GetParam().arch + ".cubin", {},
                 GetParam().in_cycles) {
        runner.device().set_printf_output([this](std::string_view text) { printed += text; });
    }
    template <typename T>
    T* array(std::size_t count) {
        return reinterpret_cast<T*>(runner.device().allocate(count * sizeof(T)));
    }
    bool at_least(int arch) const { return std::stoi(GetParam().arch + 3) >= arch; }

    template <typename... Parameters>
    DeviceFault fault(const std::string& kernel, Parameters... parameters) {
        try {
            runner.launch(kernel, {1}, {32}, parameters...);
        } catch (const DeviceFault& error) {
            return error;
        }
        return {sass::FaultKind::kLaunchFailure, "no fault"};
    }

    KernelRunner runner;
    std::string printed;
};

TEST_P(Memory, Widths) {
    constexpr int kTable[] = {3, 1, 4, 1, 5, 9, 2, 6};
    auto* c = array<signed char>(128);
    auto* s = array<unsigned short>(128);
    auto* d = array<long long>(128);
    auto* f = array<float>(4 * 128);
    const auto out = runner.ints(128);
    for (int t = 0; t < 128; ++t) {
        c[t] = static_cast<signed char>(t * 5);
        s[t] = static_cast<unsigned short>(60000 + t);
        d[t] = 1000ll * t - 7;
        for (int i = 0; i < 4; ++i) f[4 * t + i] = static_cast<float>(t + 10 * i);
    }
    const std::vector<signed char> c0(c, c + 128);
    const std::vector<long long> d0(d, d + 128);
    const std::vector<float> f0(f, f + 512);
    runner.launch("widths", {1}, {128}, c, s, d, f, out.data());
    for (int t = 0; t < 128; ++t) {
        EXPECT_EQ(out[t], 4 * (127 - t) + 60 + c0[t ^ 1] + 60000 + t +
                              static_cast<int>(d0[(t * 7) % 128]) + kTable[t % 8]);
        for (int i = 0; i < 4; ++i) EXPECT_EQ(f[4 * t + i], f0[4 * (127 - t) + 3 - i]);
        EXPECT_EQ(c[t], static_cast<signed char>(t));
        EXPECT_EQ(s[t], t * 3);
        EXPECT_EQ(d[t], d0[t ^ 3]);
    }
}

TEST_P(Memory, LocalArrays) {
    const auto in = runner.ints(40), out = runner.ints(64);
    for (int i = 0; i < 40; ++i) in[i] = i * i - 300;
    runner.launch("local_array", {1}, {64}, in.data(), out.data(), 40);
    for (int t = 0; t < 64; ++t) {
        int values[40] = {};
        signed char small[40] = {};
        for (int i = 0; i < 40; ++i) {
            values[(i * 7 + t) % 40] = in[i] * t;
            small[(i * 3 + t) % 40] = static_cast<signed char>(in[i]);
        }
        int sum = 0;
        for (int i = 0; i < 40; ++i) sum += values[(i * 7 + t) % 40] ^ small[(i * 3 + t) % 40];
        EXPECT_EQ(out[t], sum) << t;
    }
}

TEST_P(Memory, GenericPointers) {
    for (int which = 0; which < 3; ++which) {
        const auto out = runner.ints(128);
        std::iota(out.begin(), out.end(), 0);
        runner.launch("generic_pointers", {1}, {32}, out.data(), which);
        for (int t = 0; t < 32; ++t) {
            int shared = 100 + t, local = which + (t & 3);
            int& target = (t + which) % 3 == 0   ? shared
                          : (t + which) % 3 == 1 ? local
                                                 : out[64 + t];
            int global = 64 + t;
            const int value = &target == &out[64 + t] ? global : target;
            if (&target != &out[64 + t]) target += 1000;
            EXPECT_EQ(out[t], value + shared + local) << t << " " << which;
            if ((t + which) % 3 == 2) {
                EXPECT_EQ(out[64 + t], 1000 + global);
            }
        }
    }
}

TEST_P(Memory, IntegerAtomics) {
    auto* i = array<int>(8);
    auto* u = array<unsigned>(8);
    auto* l = array<unsigned long long>(8);
    const auto old = runner.ints(512);
    i[3] = -1;
    u[2] = ~0u;
    runner.launch("integer_atomics", {4}, {128}, i, u, l, old.data());
    int want_xor = 0;
    unsigned inc = 0, dec = 0;
    unsigned long long long_xor = 0;
    for (int t = 0; t < 512; ++t) {
        want_xor ^= t;
        long_xor ^= 0x100000001ull * t;
        inc = inc >= 9 ? 0 : inc + 1;
        dec = dec == 0 || dec > 9 ? 9 : dec - 1;
    }
    EXPECT_THAT(std::vector<int>(i, i + 7),
                testing::ElementsAre(511 * 256, -511, 511, 0, -1, want_xor, -1024));
    EXPECT_THAT(std::vector<unsigned>(u, u + 4), testing::ElementsAre(inc, dec, 0u, 511u));
    EXPECT_EQ(l[0], 0x100000001ull * (511 * 256));
    EXPECT_EQ(l[1], 0x100000001ull * 511);
    EXPECT_EQ(l[2], long_xor);
    std::vector<int> tickets(old.begin(), old.end());
    std::sort(tickets.begin(), tickets.end());
    for (int t = 0; t < 512; ++t) EXPECT_EQ(tickets[t], t);
}

TEST_P(Memory, SharedAtomics) {
    const auto out = runner.ints(16 + 128);
    runner.launch("shared_atomics", {1}, {128}, out.data());
    int sums[4] = {}, all = 0;
    for (int t = 0; t < 128; ++t) {
        sums[t % 4] += t;
        all ^= t;
    }
    EXPECT_THAT(std::vector<int>(out.begin(), out.begin() + 12),
                testing::ElementsAre(128, 128, 127, all, sums[0], sums[1], sums[2], sums[3], 192,
                                     192, 64, 32));
    for (int t = 0; t < 128; ++t) EXPECT_EQ(out[16 + t], 1);
}

TEST_P(Memory, FloatAtomics) {
    auto* f = array<float>(301);
    auto* d = array<double>(1);
    auto* h = array<std::uint16_t>(2);
    const auto lock = runner.ints(2);
    runner.launch("float_atomics", {1}, {128}, f, d, h, lock.data());
    EXPECT_EQ(f[0], 64.0f);
    EXPECT_EQ(d[0], 32.0);
    EXPECT_EQ(numerics::fp16_to_fp32(h[0]), 128.0f);
    EXPECT_EQ(numerics::fp16_to_fp32(h[1]), 64.0f);
    EXPECT_EQ(f[300], 256.0f);
    EXPECT_EQ(lock[0], 0);
    EXPECT_EQ(lock[1], 128);
    // Every value was exchanged for another one; the last one is still there.
    float sum = f[200];
    for (int t = 0; t < 128; ++t) sum += f[1 + t];
    EXPECT_EQ(sum, 127.0f * 64);
}

TEST_P(Memory, GenericFloatAtomics) {
    auto* f = array<float>(2);
    auto* d = array<double>(2);
    runner.launch("generic_float_atomics", {1}, {64}, f, d);
    EXPECT_EQ(f[0], 32.0f);
    EXPECT_EQ(f[1], 32.0f);
    EXPECT_EQ(d[0], 32.0);
    EXPECT_EQ(d[1], 32.0);
}

TEST_P(Memory, AsyncCopies) {
    if (!at_least(80)) GTEST_SKIP() << "sm_80 and later";
    const auto in = runner.ints(512), out = runner.ints(128);
    for (int i = 0; i < 512; ++i) in[i] = i * i;
    runner.launch("async_copies", {1}, {128}, in.data(), out.data(), 100);
    for (int t = 0; t < 128; ++t) {
        const int at = (2 * t) % 256;
        EXPECT_EQ(out[t], in[(t * 5) % 512] + in[511 - (t ^ 1)] + (at / 2 < 100 ? in[at] : 0)) << t;
    }
}

TEST_P(Memory, BarrierObjects) {
    if (!at_least(80)) GTEST_SKIP() << "sm_80 and later";
    const auto out = runner.ints(128);
    runner.launch("transaction_barriers", {1}, {128}, out.data());
    for (int t = 0; t < 128; ++t) EXPECT_EQ(out[t], ((t + 33) % 128) * 10);
}

TEST_P(Memory, MatrixLoads) {
    auto* in = array<std::uint16_t>(32 * 8);
    auto* out = array<std::uint16_t>(4 * 64);
    std::iota(in, in + 256, std::uint16_t{0});
    runner.launch("matrix_loads", {1}, {32}, in, out);
    const auto element = [&](int matrix, int row, int column) {
        return in[((8 * matrix + row) * 5 % 32) * 8 + column];
    };
    for (int t = 0; t < 32; ++t)
        for (int h = 0; h < 2; ++h) {
            const int r = t / 4, c = 2 * (t % 4) + h;
            EXPECT_EQ(out[2 * t + h], element(0, r, c));
            EXPECT_EQ(out[64 + 2 * t + h], element(3, r, c));
            EXPECT_EQ(out[128 + 2 * t + h], element(0, c, r));
            EXPECT_EQ(out[192 + 2 * t + h], element(1, c, r));
        }
}

TEST_P(Memory, BulkCopies) {
    if (!at_least(90)) GTEST_SKIP() << "sm_90 and later";
    const auto in = runner.ints(256), out = runner.ints(256);
    std::iota(in.begin(), in.end(), 5);
    runner.launch("bulk_copy", {1}, {256}, in.data(), out.data());
    for (int i = 0; i < 256; ++i) EXPECT_EQ(out[i], 2 * (i + 5));
}

TEST_P(Memory, Printf) {
    runner.launch("prints", {2}, {32}, 4);
    EXPECT_EQ(printed,
              "block 0 thread 3:  0.75 text -5 x%\nblock 0 thread 19:  4.75 text -5 x%\n"
              "block 1 thread 3:  0.75 text -5 x%\nblock 1 thread 19:  4.75 text -5 x%\n");
}

TEST_P(Memory, DeviceMalloc) {
    const auto out = runner.ints(64);
    runner.launch("allocates", {1}, {64}, out.data());
    for (int t = 0; t < 64; ++t) EXPECT_EQ(out[t], 120 * t);
    runner.device().set_heap_bytes(1000);
    runner.launch("allocates", {1}, {32}, out.data());
    EXPECT_EQ(out[0], 0);
    EXPECT_EQ(out[31], -1);
}

TEST_P(Memory, HeapBlocksHaveBounds) {
    const auto out = runner.ints(2);
    out[0] = 4;
    const DeviceFault error = fault("overruns_heap", out.data());
    EXPECT_EQ(error.kind(), sass::FaultKind::kIllegalAddress);
    EXPECT_THAT(error.what(), HasSubstr("is the end of a 16-byte allocation"));
}

TEST_P(Memory, FailedAssertion) {
    runner.launch("asserts", {1}, {32}, 32);
    const DeviceFault error = fault("asserts", 30);
    EXPECT_EQ(error.kind(), sass::FaultKind::kAssert);
    EXPECT_THAT(error.what(), HasSubstr("thread: [30,0,0] Assertion"));
}

TEST_P(Memory, OutOfBoundsNamesTheAllocation) {
    const auto out = runner.ints(1000);
    const DeviceFault error = fault("stores_at", out.data(), 990ll);
    EXPECT_EQ(error.kind(), sass::FaultKind::kIllegalAddress);
    EXPECT_THAT(error.what(), HasSubstr("is the end of a 4,000-byte allocation"));
    EXPECT_THAT(error.what(), HasSubstr("--bounds page goes on"));
    EXPECT_THAT(error.what(), HasSubstr("(10,0,0)"));
    EXPECT_THAT(fault("stores_at", std::uint64_t{0}, 4ll).what(), HasSubstr("null pointer"));
}

TEST(PageBounds, OnlyWhatLiesBeyondThePageIsOutOfBounds) {
    for (const bool in_cycles : {false, true}) {
        KernelRunner runner("h200", "memory_sm_90.cubin", {.bounds = Bounds::kPage}, in_cycles);
        const auto out = runner.ints(1000);
        // In ints, from the array on: where its page begins and ends.
        const long long begin = -static_cast<long long>(
            reinterpret_cast<std::uintptr_t>(out.data()) % (2 << 20) / sizeof(int));
        const long long end = begin + (2 << 20) / static_cast<long long>(sizeof(int));
        for (const long long offset : {990ll, 5000ll, begin, end - 32})
            EXPECT_NO_THROW(runner.launch("stores_at", {1}, {32}, out.data(), offset)) << offset;
        for (const long long offset : {begin - 1, end - 31, end})
            EXPECT_THROW(runner.launch("stores_at", {1}, {32}, out.data(), offset), DeviceFault)
                << offset;
    }
}

TEST(Halfword, AtomicsMayTouchTheWordAtAnEnd) {
    for (const bool in_cycles : {false, true})
        for (const auto& [machine, arch] :
             {std::pair{"t4", "sm_75"}, std::pair{"a100", "sm_80"}, std::pair{"h200", "sm_90"}}) {
            KernelRunner runner(machine, std::string("halfword_") + arch + ".cubin", {}, in_cycles);
            const auto halves = [&](std::size_t count) {
                return reinterpret_cast<std::uint16_t*>(runner.device().allocate(2 * count));
            };
            std::uint16_t* const three = halves(3);
            runner.launch("swaps", {1}, {32}, three + 2, std::uint16_t{0}, std::uint16_t{9});
            EXPECT_EQ(three[2], 9) << arch;
            std::uint16_t* const one = halves(1);
            runner.dynamic_shared_bytes = 6;
            runner.launch("counts", {1}, {64}, one);
            EXPECT_EQ(*one, 32 + 256 * 32) << arch;
            // Where nothing swaps words, each byte counts.
            KernelRunner plain(machine, std::string("memory_") + arch + ".cubin", {}, in_cycles);
            const DevicePointer six = plain.device().allocate(6);
            EXPECT_THROW(plain.launch("stores_at", {1}, {1}, six, 1ll), DeviceFault);
        }
}

TEST_P(Memory, SizesOfSharedMemoryAreInUnitsOfAllocation) {
    const auto out = runner.ints(5);
    runner.dynamic_shared_bytes = 1000;
    runner.launch("shared_sizes", {1}, {32}, out.data());
    EXPECT_EQ(out[0], at_least(80) ? 1152 : 1280) << "40 bytes more";
    EXPECT_EQ(out[1], 1000);
    EXPECT_EQ(out[2], at_least(90) ? 1152 + 1024 : 0) << "with what the system reserves";
}

TEST(ConstantPointer, LeadsToConstantsOrGlobalMemory) {
    for (const bool in_cycles : {false, true}) {
        for (const auto& [machine, arch] : {std::pair{"t4", "sm_75"}, std::pair{"h200", "sm_90"}}) {
            KernelRunner runner(machine, std::string("constant_pointer_") + arch + ".cubin", {},
                                in_cycles);
            const auto in = runner.ints(32), out = runner.ints(32);
            for (int t = 0; t < 32; ++t) in[t] = -t;
            runner.launch("choose", {1}, {32}, in.data(), out.data(), 4);
            for (int t = 0, power = 1; t < 32; ++t, power = t % 8 ? power * 3 : 1)
                EXPECT_EQ(out[t], (t % 2 ? power : -t) + (1 << 16) + 5) << arch << t;
        }
    }
}

constexpr Target kTargets[] = {{"t4", "sm_75"}, {"a100", "sm_80"}, {"h200", "sm_90"}};
constexpr Target kInCycles[] = {
    {"t4", "sm_75", true}, {"a100", "sm_80", true}, {"h200", "sm_90", true}};
const auto kName = [](const testing::TestParamInfo<Target>& target) { return target.param.arch; };
INSTANTIATE_TEST_SUITE_P(Emulator, Memory, testing::ValuesIn(kTargets), kName);
INSTANTIATE_TEST_SUITE_P(Simulator, Memory, testing::ValuesIn(kInCycles), kName);

}  // namespace
}  // namespace lockstep
