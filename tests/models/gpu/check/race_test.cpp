// SPDX-License-Identifier: Apache-2.0
// Races that are there are found, with both accesses; what barriers, atomics, mbarriers, fences and
// convergence order is none.
#include <numeric>

#include "tests/models/gpu/check/check_fixture.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Race : public CheckTest {
  protected:
    KernelRunner runner_ = make(kCheckRace);
    std::span<int> out_ = runner_.ints(4096);

    std::string run(const std::string& kernel, unsigned threads, int parameter) {
        return report(runner_, kernel, {1}, {threads}, out_.data(), parameter);
    }
};

TEST_P(Race, ReadAfterWrite) {
    EXPECT_THAT(run("read_after_write", 256, 1), IsEmpty());
    const std::string text = run("read_after_write", 256, 0);
    EXPECT_THAT(text, HasSubstr("checks found 2 faults in kernel read_after_write, grid (1,1,1), "
                                "block (256,1,1)\n"));
    EXPECT_THAT(text, HasSubstr("race: read after write in shared memory, "));
    EXPECT_THAT(text, HasSubstr("  place        shared memory, offset 0x"));
    EXPECT_THAT(text, ContainsRegex("  read by      CTA \\(0,0,0\\) thread \\([0-9]*,0,0\\): "
                                    "0x[0-9a-f]*  LDS R[0-9]*, .*\\(faults.cu:27\\)\n"));
    EXPECT_THAT(text, ContainsRegex("  written by   CTA \\(0,0,0\\) thread \\([0-9]*,0,0\\): "
                                    "0x[0-9a-f]*  STS .*\\(faults.cu:25\\)\n"));
}

TEST_P(Race, WriteAfterRead) {
    EXPECT_THAT(run("write_after_read", 256, 1), IsEmpty());
    EXPECT_THAT(run("write_after_read", 256, 0),
                AllOf(HasSubstr("race: write after read in shared memory"),
                      HasSubstr("(faults.cu:36)"), HasSubstr("(faults.cu:34)")));
    EXPECT_THAT(run("write_after_read", 32, 0), IsEmpty())
        << "a warp alone, whose lanes are its own";
}

TEST_P(Race, WriteAfterWrite) {
    EXPECT_THAT(run("write_after_write", 256, 0),
                AllOf(HasSubstr("race: write after write"), HasSubstr("shared memory")));
    EXPECT_THAT(run("write_after_write", 256, 1), IsEmpty()) << "the same value";
    EXPECT_THAT(run("write_after_write", 256, 2), IsEmpty());
}

TEST_P(Race, WritesOfOneInstruction) {
    EXPECT_THAT(run("write_in_one_instruction", 32, 0), HasSubstr("race: write after write"));
    EXPECT_THAT(run("write_in_one_instruction", 32, 1), IsEmpty());
}

TEST_P(Race, LanesThatHaveParted) {
    EXPECT_THAT(run("parted_lanes", 32, 0), HasSubstr("race: "));
    EXPECT_THAT(run("parted_lanes", 32, 1), IsEmpty());
}

TEST_P(Race, BytesOfAWord) {
    EXPECT_THAT(run("bytes", 256, 0), IsEmpty());
    EXPECT_THAT(run("bytes", 256, 1),
                AllOf(HasSubstr("race: write after read"), HasSubstr("1 bytes")));
}

TEST_P(Race, VectorsAndTheirWords) {
    EXPECT_THAT(run("vectors", 256, 0), IsEmpty()) << "a barrier";
    EXPECT_THAT(run("vectors", 256, 1),
                AllOf(HasSubstr("race: read after write in shared memory"), HasSubstr("16 bytes")));
    EXPECT_THAT(run("vectors", 256, 2),
                AllOf(HasSubstr("race: read after write in shared memory"), HasSubstr("4 bytes")));
    EXPECT_THAT(run("vectors", 256, 3), IsEmpty()) << "the same values";
    EXPECT_THAT(run("vectors", 256, 4), HasSubstr("race: write after write")) << "one word differs";
    EXPECT_THAT(run("vectors", 256, 5), IsEmpty()) << "words of their own";
}

TEST_P(Race, ALockInSharedMemory) {
    EXPECT_THAT(run("shared_lock", 128, 1), IsEmpty());
    EXPECT_THAT(run("shared_lock", 128, 0), HasSubstr("race: "));
}

TEST_P(Race, NamedBarriers) {
    EXPECT_THAT(run("named_barriers", 128, 3), IsEmpty());
    EXPECT_THAT(run("named_barriers", 128, 5), HasSubstr("race: "));
}

TEST_P(Race, Mbarriers) {
    EXPECT_THAT(run("mbarriers", 128, 1), IsEmpty());
    EXPECT_THAT(run("mbarriers", 128, 0), HasSubstr("race: "));
}

TEST_P(Race, Atomics) {
    const auto in = runner_.ints(1000);
    std::iota(in.begin(), in.end(), 0);
    EXPECT_THAT(report(runner_, "histogram", {4}, {128}, in.data(), out_.data(), 1000), IsEmpty());
}

TEST_P(Race, BetweenCtas) {
    const std::string text = report(runner_, "shift_in_place", {4}, {64}, out_.data());
    EXPECT_THAT(text,
                AllOf(HasSubstr("race: "), HasSubstr("global memory"),
                      HasSubstr("of an allocation of 16384 at 0x"), HasSubstr("(faults.cu:147)")));
    EXPECT_THAT(report(runner_, "shift_in_place", {1}, {32}, out_.data()), IsEmpty());
    EXPECT_THAT(report(runner_, "count_plainly", {4}, {32}, out_.data()),
                AllOf(HasSubstr("CTA (0,0,0)"), HasSubstr("CTA (1,0,0)")));
    EXPECT_THAT(report(runner_, "count_plainly", {1}, {32}, out_.data()), IsEmpty());
}

TEST_P(Race, AFlagNeedsAFence) {
    const auto data = runner_.ints(64), flag = runner_.ints(1);
    EXPECT_THAT(report(runner_, "hand_over", {2}, {64}, data.data(), flag.data(), out_.data(), 1),
                IsEmpty());
    flag[0] = 0;
    EXPECT_THAT(report(runner_, "hand_over", {2}, {64}, data.data(), flag.data(), out_.data(), 0),
                HasSubstr("race: read after write in global memory"));
}

TEST_P(Race, GridSynchronisation) {
    runner_.cooperative = true;
    const auto x = runner_.ints(6 * 96);
    EXPECT_THAT(report(runner_, "grid_sync", {6}, {96}, x.data(), out_.data()), IsEmpty());
}

TEST_P(Race, ProgramsThatOrderThemselves) {
    KernelRunner runner = make(kCheckRace, "ordering");
    const auto a = runner.ints(4096), b = runner.ints(4096), c = runner.ints(4096),
               d = runner.ints(4096);
    b[0] = 0;
    EXPECT_THAT(report(runner, "message_passing", {4}, {64}, a.data(), b.data(), c.data(), 5),
                IsEmpty());
    EXPECT_THAT(report(runner, "locked_counter", {6}, {32}, c.data(), c.data() + 100, 5, 1),
                IsEmpty());
    EXPECT_THAT(report(runner, "locked_counter", {6}, {32}, c.data(), c.data() + 100, 5, 0),
                IsEmpty());
    EXPECT_THAT(report(runner, "last_block", {20}, {64}, a.data(), d.data(), d.data() + 100,
                       d.data() + 200),
                IsEmpty());
    EXPECT_THAT(report(runner, "work_queue", {6}, {64}, d.data() + 300, d.data() + 400, 100),
                IsEmpty());
    d[1000] = -1;
    EXPECT_THAT(report(runner, "push_nodes", {6}, {64}, d.data() + 1000, d.data() + 1001),
                IsEmpty());
    EXPECT_THAT(report(runner, "seen_by_cta", {4}, {96}, d.data() + 2000, d.data() + 3000, 3),
                IsEmpty());
}

TEST_P(Race, LanesThatHandOn) {
    KernelRunner runner = make(kCheckRace, "ordering");
    for (const int flags : {1, 2}) {
        const auto out = runner.ints(2);
        out[1] = 7;
        EXPECT_THAT(report(runner, "lane_to_lane", {1}, {64}, out.data(), flags), IsEmpty());
        EXPECT_EQ(out[0], 7);
    }
}

TEST(RaceOfReductions, ByTmaAreAtomic) {
    KernelRunner runner("h200", "tma_sm_90a.cubin", {.checks = kCheckRace});
    const auto floats = runner.ints(64), ints = runner.ints(64);
    EXPECT_THAT(CheckTest::report(runner, "reduce_blocks", {5}, {64}, floats.data(), ints.data()),
                IsEmpty());
}

TEST_P(Race, OfTheProgramsThatChipsForgive) {
    KernelRunner runner = make(kCheckRace, "forgiven_races");
    const auto a = runner.ints(96 * 96 + 4096), x = runner.ints(4096), y = runner.ints(4096);
    EXPECT_THAT(report(runner, "reduce_in_loop", {1}, {256}, a.data(), x.data(), 4),
                HasSubstr("race: write after read in shared memory"));
    EXPECT_THAT(report(runner, "repeated_product", {3}, {32, 8}, a.data(), y.data(), x.data(), 96),
                AllOf(HasSubstr("race: "), HasSubstr("global memory")));
}

TEST_P(Race, AtomicsOfSeveralInstructions) {
    EXPECT_THAT(run("sum_floats", 256, 0), IsEmpty());
    EXPECT_EQ(reinterpret_cast<const float*>(out_.data())[0], 512.0f);
    EXPECT_THAT(run("sum_floats", 256, 1), HasSubstr("race: "));
    out_[0] = 0;
    EXPECT_THAT(run("largest", 256, 0), IsEmpty());
    EXPECT_EQ(reinterpret_cast<const float*>(out_.data())[0], 255.0f);
    EXPECT_EQ(reinterpret_cast<const float*>(out_.data())[1], 255.0f);
    out_[0] = 0;
    EXPECT_THAT(run("largest", 256, 1), HasSubstr("race: "));
    out_[0] = 0;
    EXPECT_THAT(run("count_halves", 256, 0), IsEmpty());
    EXPECT_EQ(out_[0], 3 * 256 << 16);
    EXPECT_EQ(out_[1], 3 * 256);
    EXPECT_THAT(run("count_halves", 256, 1), HasSubstr("race: "));
}

TEST_P(Race, BlocksThatKernelsAllocateAgain) {
    EXPECT_THAT(run("allocate_again", 256, 0), IsEmpty());
    EXPECT_THAT(run("allocate_again", 256, 1), HasSubstr("race: write after write"));
}

TEST_P(Race, IsFoundWhateverCtasWaitForEachOther) {
    for (int i = 0; i < 2; ++i) EXPECT_THAT(run("read_after_write", 64, 0), HasSubstr("race: "));
    EXPECT_EQ(runner_.device().findings(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Devices, Race, testing::ValuesIn(kCheckTargets), name_of_target);

}  // namespace
}  // namespace lockstep
