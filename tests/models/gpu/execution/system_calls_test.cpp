// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/system_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "isa/sass/program.h"
#include "models/gpu/execution/device_printf.h"

namespace lockstep::gpu {
namespace {

/// Lays arguments out as the compiler does.
class Arguments {
  public:
    template <typename T>
    Arguments& add(T value) {
        while (bytes_.size() % sizeof(T) != 0) bytes_.push_back(0);
        const auto* p = reinterpret_cast<const unsigned char*>(&value);
        bytes_.insert(bytes_.end(), p, p + sizeof(T));
        return *this;
    }
    PrintfArguments reader() const {
        return {[this](std::uint64_t offset, unsigned bytes) {
                    std::uint64_t value = 0;
                    std::memcpy(&value, bytes_.data() + offset, bytes);
                    return value;
                },
                [](std::uint64_t address) {
                    return std::string(reinterpret_cast<const char*>(address));
                }};
    }

  private:
    std::vector<unsigned char> bytes_;
};

std::string formatted(std::string_view format, const Arguments& arguments = {}, int used = -1) {
    std::string text;
    const int result = format_printf(format, arguments.reader(), text);
    if (used >= 0) {
        EXPECT_EQ(result, used);
    }
    return text;
}

TEST(DevicePrintf, AllConversions) {
    EXPECT_EQ(formatted("plain 100%%\n", {}, 0), "plain 100%\n");
    EXPECT_EQ(formatted("%d %i %5d|%-5d|%05d %+d",
                        Arguments().add(-1).add(2).add(3).add(4).add(5).add(6), 6),
              "-1 2     3|4    |00005 +6");
    EXPECT_EQ(formatted("%u %x %X %o %#x %c",
                        Arguments().add(~0u).add(255u).add(255u).add(8u).add(16u).add(int{'z'})),
              "4294967295 ff FF 10 0x10 z");
    EXPECT_EQ(formatted("%hd %hhu", Arguments().add(0x12345).add(0x1ff)), "9029 255");
    EXPECT_EQ(formatted("%d %lld %d %lu %zu",
                        Arguments().add(1).add(-5'000'000'000ll).add(2).add(~0ull).add(7ull)),
              "1 -5000000000 2 18446744073709551615 7");
    EXPECT_EQ(formatted("%f %.2f %10.3e %g %a",
                        Arguments().add(1.5).add(2.345).add(12345.678).add(1e-10).add(1.0)),
              "1.500000 2.35  1.235e+04 1e-10 0x1p+0");
    EXPECT_EQ(formatted("%f %f %f", Arguments().add(1.0 / 0.0).add(-1.0 / 0.0).add(-0.0)),
              "inf -inf -0.000000");
    EXPECT_EQ(
        formatted("%*d|%-*d|%.*f|%.*f",
                  Arguments().add(4).add(7).add(4).add(8).add(1).add(2.25).add(-1).add(1.5), 8),
        "   7|8   |2.2|1.500000");
    const char* const word = "word";
    EXPECT_EQ(formatted("%s|%6s|%.2s|%s", Arguments().add(word).add(word).add(word).add(
                                              static_cast<const char*>(nullptr))),
              "word|  word|wo|(null)");
    EXPECT_EQ(formatted("%p", Arguments().add(0x1234ull)), "0x1234");
    EXPECT_EQ(formatted("%y %", {}, 0), "%y %");
}

class SystemCallsTest : public testing::Test {
  protected:
    SystemCallsTest() {
        launch.memory = &memory;
        launch.block = {8, 4, 1};
        launch.shared_bytes = 64;
        launch.local_bytes = 64;
        cta.launch = &launch;
        cta.index = {3, 0, 0};
        cta.shared = shared.data();
        warp.cta = &cta;
        warp.local = local.data();
        warp.bases[0] = reinterpret_cast<std::byte*>(rows.data());
        calls.set_output([this](std::string_view text) { printed += text; });
        calls.set_error_output([this](std::string_view text) { errors += text; });
    }
    void set64(unsigned number, unsigned lane, std::uint64_t value) {
        warp.register_row(number).lane[lane] = static_cast<std::uint32_t>(value);
        warp.register_row(number + 1).lane[lane] = static_cast<std::uint32_t>(value >> 32);
    }
    std::uint64_t get64(unsigned number, unsigned lane) {
        return warp.register_row(number).lane[lane] |
               std::uint64_t{warp.register_row(number + 1).lane[lane]} << 32;
    }
    std::uint64_t text(const std::string& value) {
        const std::uint64_t address = memory.allocate(value.size() + 1);
        std::memcpy(reinterpret_cast<void*>(address), value.c_str(), value.size() + 1);
        return address;
    }
    void call(const char* name, std::uint32_t mask) {
        warp.mask = mask;
        const std::uint64_t offset = system_call_address(name) - sass::Program::kSystemCallBase;
        calls.call(static_cast<unsigned>(offset / sass::Word::kBytes), warp);
    }

    memory::DeviceMemory memory{1 << 30};
    sass::Launch launch;
    sass::Cta cta;
    sass::Warp warp;
    std::vector<std::byte> shared = std::vector<std::byte>(64);
    std::vector<std::byte> local = std::vector<std::byte>(64 * 32);
    std::vector<sass::Row> rows = std::vector<sass::Row>(sass::kRegisterRow + 32);
    SystemCalls calls{memory};
    std::string printed, errors;
};

TEST_F(SystemCallsTest, PrintfReadsLocalArgumentsInLaneOrder) {
    const std::uint64_t format = text("lane %d %.1f\n");
    for (unsigned l = 0; l < 32; ++l) {
        set64(4, l, format);
        set64(6, l, sass::kLocalWindow + 16);
        const auto word = [&](unsigned offset, std::uint32_t value) {
            std::memcpy(&local[(offset / 4 * 32 + l) * 4], &value, 4);
        };
        word(16, l);
        const auto bits = std::bit_cast<std::uint64_t>(l / 2.0);
        word(24, static_cast<std::uint32_t>(bits));
        word(28, static_cast<std::uint32_t>(bits >> 32));
    }
    call("vprintf", 0x80000005);
    EXPECT_EQ(printed, "lane 0 0.0\nlane 2 1.0\nlane 31 15.5\n");
    EXPECT_EQ(warp.register_row(4).lane[2], 2u);
}

TEST_F(SystemCallsTest, PrintfOfABadFormatFaults) {
    set64(4, 3, 0x10);
    try {
        call("vprintf", 1u << 3);
        FAIL();
    } catch (const sass::Fault& fault) {
        EXPECT_EQ(fault.kind, sass::FaultKind::kIllegalAddress);
        EXPECT_EQ(fault.lane, 3u);
        EXPECT_THAT(fault.what, testing::HasSubstr("format of printf at 0x10"));
    }
}

TEST_F(SystemCallsTest, MallocHasBoundsAndALimit) {
    calls.set_heap_bytes(1000);
    for (unsigned l = 0; l < 32; ++l) set64(4, l, 200);
    call("malloc", 0xff);
    for (unsigned l = 0; l < 4; ++l) {
        const std::uint64_t address = get64(4, l);
        ASSERT_NE(address, 0u);
        EXPECT_TRUE(memory.find(address).contains(address, 200));
        EXPECT_FALSE(memory.find(address).contains(address, 201));
    }
    EXPECT_EQ(get64(4, 4), 0u) << "four blocks of 224 bytes fit";
    const std::uint64_t first = get64(4, 0);
    call("free", 0xff);  // null pointers are fine
    EXPECT_EQ(memory.find(first).end, 0u);
    set64(4, 0, 900);
    call("malloc", 1);
    EXPECT_EQ(get64(4, 0), first) << "the same every time";
    set64(4, 1, first + 16);
    EXPECT_THROW(call("free", 2), sass::Fault);
    EXPECT_EQ(memory.free_bytes(), memory.total_bytes());
}

TEST_F(SystemCallsTest, AssertionNamesThread) {
    const std::uint64_t expression = text("n > 3"), file = text("a.cu"),
                        function = text("void k(int)");
    for (unsigned l = 0; l < 32; ++l) {
        set64(4, l, expression);
        set64(6, l, file);
        warp.register_row(8).lane[l] = 19;
        set64(10, l, function);
    }
    try {
        call("__assertfail", 0x300);
        FAIL();
    } catch (const sass::Fault& fault) {
        EXPECT_EQ(fault.kind, sass::FaultKind::kAssert);
        EXPECT_EQ(fault.lane, 8u);
    }
    EXPECT_EQ(errors,
              "a.cu:19: void k(int): block: [3,0,0], thread: [0,1,0] Assertion `n > 3` failed.\n"
              "a.cu:19: void k(int): block: [3,0,0], thread: [1,1,0] Assertion `n > 3` failed.\n");
}

TEST_F(SystemCallsTest, UnknownFunctionsAreNamed) {
    try {
        call("cudaDeviceSynchronize", 1);
        FAIL();
    } catch (const sass::Fault& fault) {
        EXPECT_THAT(fault.what, testing::HasSubstr("cudaDeviceSynchronize"));
    }
}

}  // namespace
}  // namespace lockstep::gpu
