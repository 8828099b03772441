// SPDX-License-Identifier: Apache-2.0
#include "validation/measure/shadow_memory.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lockstep::validation {
namespace {

class Shadow : public testing::Test {
  protected:
    void SetUp() override {
        CuContext* context = nullptr;
        CuDevice device = 0;
        driver_->check(driver_->device(&device, 0), "cuDeviceGet");
        driver_->check(driver_->retain_context(&context, device), "cuDevicePrimaryCtxRetain");
        driver_->check(driver_->set_context(context), "cuCtxSetCurrent");
    }
    static std::uint64_t& word(DevicePointer pointer, int index) {
        return reinterpret_cast<std::uint64_t*>(pointer)[index];
    }
    std::uint64_t device_word(CuPointer pointer, int index) const {
        std::uint64_t value = 0;
        driver_->check(driver_->copy_to_host(&value, pointer + 8 * static_cast<unsigned>(index), 8),
                       "cuMemcpyDtoH");
        return value;
    }
    std::shared_ptr<const Driver> driver_ = Driver::load(LOCKSTEP_FAKE_DRIVER);
    ShadowMemory memory_{driver_};
};

TEST_F(Shadow, CopiesBothWays) {
    const DevicePointer pointer = memory_.allocate(24);
    EXPECT_EQ(word(pointer, 2), 0u);
    word(pointer, 2) = 77;
    memory_.to_device(false);
    EXPECT_EQ(device_word(memory_.on_device(pointer), 2), 77u);
    word(pointer, 2) = 1;
    memory_.to_host(false);
    EXPECT_EQ(word(pointer, 2), 77u);
}

TEST_F(Shadow, ReplacesAddressesAlone) {
    const DevicePointer a = memory_.allocate(64), b = memory_.allocate(1024);
    EXPECT_EQ(a & 0xffffffff, memory_.on_device(a) & 0xffffffff);
    word(a, 0) = b + 8;
    word(a, 1) = b + 1024;  // one past the end
    word(a, 2) = b + 1025;  // nowhere
    word(a, 3) = 0x3f8000003f800000;
    memory_.to_device(true);
    const CuPointer on_device = memory_.on_device(a), other = memory_.on_device(b);
    EXPECT_EQ(device_word(on_device, 0), other + 8);
    EXPECT_EQ(device_word(on_device, 1), other + 1024);
    EXPECT_EQ(device_word(on_device, 2), b + 1025);
    EXPECT_EQ(device_word(on_device, 3), 0x3f8000003f800000u);
    EXPECT_EQ(word(a, 0), b + 8) << "the host's copy is as it was";
    memory_.to_host(true);
    EXPECT_EQ(word(a, 0), b + 8);
    EXPECT_EQ(word(a, 1), b + 1024);

    // Parameters: an address behind two ints that make none.
    std::uint64_t parameters[2] = {0x0000000500000007, b};
    const auto translated = memory_.translated(std::as_bytes(std::span(parameters)));
    std::uint64_t got[2];
    std::memcpy(got, translated.data(), sizeof got);
    EXPECT_EQ(got[0], parameters[0]);
    EXPECT_EQ(got[1], other);
    memory_.free(b);
    EXPECT_EQ(memory_.translated(std::as_bytes(std::span(parameters)))[15], std::byte{0});
}

}  // namespace
}  // namespace lockstep::validation
