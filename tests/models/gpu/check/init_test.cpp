// SPDX-License-Identifier: Apache-2.0
// Reads of memory never written are found, in each space; copies, fills and padding are no fault.
#include "tests/models/gpu/check/check_fixture.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Init : public CheckTest {
  protected:
    KernelRunner runner_ = make(kCheckInit);
    std::span<int> out_ = runner_.ints(1024);

    void wrote(const void* pointer, std::uint64_t bytes) {
        runner_.device().note_host_write(reinterpret_cast<DevicePointer>(pointer), bytes);
    }
};

TEST_P(Init, GlobalMemory) {
    const auto from = runner_.ints(128);
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {64}, from.data(), out_.data()),
                AllOf(HasSubstr("init: global memory is read and was never written, 64 times"),
                      HasSubstr("of an allocation of 512 at 0x"), HasSubstr("LDG")));
    wrote(from.data(), 32 * sizeof(int));
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {32}, from.data(), out_.data()), IsEmpty());
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {64}, from.data(), out_.data()),
                HasSubstr("32 times"));
    // What a kernel has written is written.
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {64}, out_.data(), from.data() + 64), IsEmpty());
    EXPECT_THAT(report(runner_, "add_ints", {1}, {32}, from.data()), IsEmpty());
    EXPECT_THAT(report(runner_, "add_ints", {1}, {64}, from.data()), HasSubstr("init: "));
}

TEST_P(Init, AnExchangeWithoutResultOnlyWrites) {
    const auto data = runner_.ints(64), flag = runner_.ints(1);
    EXPECT_THAT(report(runner_, "hand_over", {1}, {64}, data.data(), flag.data(), out_.data(), 1),
                IsEmpty());
}

TEST_P(Init, MemoryThatIsAllocatedAgain) {
    Device& device = runner_.device();
    const DevicePointer first = device.allocate(4096);
    device.note_host_write(first, 4096);
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {64}, first, out_.data()), IsEmpty());
    device.free(first);
    const DevicePointer second = device.allocate(4096);
    EXPECT_EQ(first, second);
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {64}, second, out_.data()), HasSubstr("init: "));
    const DevicePointer host = device.allocate(4096, MemoryKind::kHost);
    EXPECT_THAT(report(runner_, "copy_ints", {1}, {64}, host, out_.data()), IsEmpty());
}

TEST_P(Init, Bytes) {
    const auto from = runner_.ints(16);
    wrote(from.data(), 5);
    EXPECT_THAT(report(runner_, "read_bytes", {1}, {5}, from.data(), out_.data()), IsEmpty());
    EXPECT_THAT(report(runner_, "read_bytes", {1}, {6}, from.data(), out_.data()),
                AllOf(HasSubstr("once"), HasSubstr("1 bytes: byte 5 of")));
}

TEST_P(Init, SharedMemory) {
    EXPECT_THAT(report(runner_, "unwritten_shared", {2}, {64}, out_.data(), 64), IsEmpty());
    EXPECT_THAT(report(runner_, "unwritten_shared", {2}, {64}, out_.data(), 60),
                AllOf(HasSubstr("init: shared memory is read and was never written, 8 times"),
                      HasSubstr("thread (60,0,0)")));
}

TEST_P(Init, LocalMemory) {
    EXPECT_THAT(report(runner_, "unwritten_local", {1}, {32}, out_.data(), 32, 5), IsEmpty());
    EXPECT_THAT(report(runner_, "unwritten_local", {1}, {32}, out_.data(), 31, 0),
                HasSubstr("init: local memory is read and was never written, once"));
}

TEST_P(Init, Padding) {
    const auto from = runner_.ints(256), to = runner_.ints(256);
    EXPECT_THAT(report(runner_, "set_padded", {1}, {32}, from.data()), IsEmpty());
    EXPECT_THAT(report(runner_, "copy_padded", {1}, {32}, from.data(), to.data()), IsEmpty());
    EXPECT_THAT(report(runner_, "copy_padded", {1}, {33}, from.data(), to.data()),
                HasSubstr("thread (32,0,0)"));
}

INSTANTIATE_TEST_SUITE_P(Devices, Init, testing::ValuesIn(kCheckTargets), name_of_target);

}  // namespace
}  // namespace lockstep
