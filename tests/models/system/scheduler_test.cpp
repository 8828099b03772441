// SPDX-License-Identifier: Apache-2.0
// The time line of a host and a chip whose kernels take a given time.
#include "models/system/scheduler.h"

#include <gmock/gmock.h>

#include <map>

namespace lockstep::system {
namespace {

constexpr SimulatedTime kUs = 1'000'000;

/// Kernels take 10 us, or what their name says; copies within the device 1 us a kilobyte.
class FakeChip : public Processor {
  public:
    void check(const LaunchRequest& request) override {
        if (request.kernel == "refused")
            throw LaunchRefused(LaunchRefused::Reason::kInvalidConfiguration, "refused");
    }
    std::size_t grids() const override { return running_.size(); }
    std::size_t max_grids() const override { return most; }
    void start(WorkId work, const KernelWork& kernel, int priority, SimulatedTime at) override {
        running_.push_back({work, kernel.request.kernel, at + 10 * kUs, priority});
        starts[kernel.request.kernel] = at;
    }
    SimulatedTime run(SimulatedTime until, std::vector<GridEnd>& ended) override {
        const auto first =
            std::min_element(running_.begin(), running_.end(),
                             [&](const Grid& a, const Grid& b) { return end(a) < end(b); });
        if (end(*first) == ~SimulatedTime{0} || until < end(*first))
            return until == ~SimulatedTime{0} ? now_ += 100 * kUs : now_ = until;
        now_ = end(*first);
        ended.push_back({first->work, now_, {.cycles = 1}});
        running_.erase(first);
        return now_;
    }
    SimulatedTime copy_time(std::uint64_t bytes) override { return bytes / 1024 * kUs; }
    SimulatedTime fill_time(std::uint64_t bytes) override { return bytes / 1024 * kUs / 2; }
    void carry(WorkId transfer, bool, std::uint64_t bytes, SimulatedTime,
               SimulatedTime end) override {
        if (held_up != 0 && bytes > 1024) late[transfer] = end + held_up;
    }
    SimulatedTime left(WorkId transfer, SimulatedTime now) override {
        const auto at = late.find(transfer);
        if (at == late.end() || at->second <= now) return 0;
        return (at->second - now + 1) / 2;  // as known then: half of it turns out later
    }
    bool spins() const override { return false; }
    void trace(const std::string& track, const std::string& name, SimulatedTime,
               SimulatedTime) override {
        traced.push_back(track + ": " + name);
    }
    bool is_traced() const override { return true; }
    std::string explain_wait() const override { return "a fake\n"; }

    std::vector<std::string> traced;
    std::size_t most = 4;
    bool flag = false;  ///< what the kernel "spins" waits for
    std::map<std::string, SimulatedTime> starts;
    SimulatedTime held_up = 0;  ///< by which traffic ends later than planned
    std::map<WorkId, SimulatedTime> late;

  private:
    struct Grid {
        WorkId work;
        std::string name;
        SimulatedTime end;
        int priority;
    };
    SimulatedTime end(const Grid& grid) const {
        return grid.name != "spins" ? grid.end
               : flag               ? std::max(grid.end, now_)
                                    : ~SimulatedTime{0};
    }
    std::vector<Grid> running_;
    SimulatedTime now_ = 0;
};

class SchedulerTest : public testing::Test {
  protected:
    WorkId launch(StreamId stream, const std::string& name, std::vector<WorkId> after = {}) {
        KernelWork work;
        work.request.kernel = name;
        return line.submit(stream, std::move(work), after, Submission::kByItself);
    }
    WorkId copy(StreamId stream, TransferKind kind, std::uint64_t bytes, bool is_pageable = false) {
        return line.submit(stream,
                           TransferWork{.kind = kind,
                                        .bytes = bytes,
                                        .is_pageable = is_pageable,
                                        .perform = [this] { ++performed; }},
                           {}, Submission::kByItself);
    }
    SimulatedTime mark(StreamId stream) {
        SimulatedTime at = 0;
        const WorkId id = line.submit(stream, MarkWork{[&at](SimulatedTime time) { at = time; }},
                                      {}, Submission::kByItself);
        wait(id);
        return at;
    }
    void wait(WorkId work) {
        while (!line.is_done(work)) ASSERT_TRUE(line.step());
        line.resume_host();
    }
    void wait_all() {
        while (!line.is_idle(kNoStream)) ASSERT_TRUE(line.step());
        line.resume_host();
    }

    const std::shared_ptr<const config::Machine> machine = config::Machine::load("h200");
    FakeChip chip;
    Scheduler line{*machine, chip};
    int performed = 0;
};

TEST_F(SchedulerTest, CallsReturnBeforeKernelsBegin) {
    const WorkId work = launch(kDefaultStream, "a");
    EXPECT_EQ(line.now(), static_cast<SimulatedTime>(machine->number("host.launch_time") * 1e3));
    EXPECT_FALSE(line.is_done(work));
    EXPECT_TRUE(chip.starts.empty());
    const SimulatedTime before = line.now();
    wait(work);
    EXPECT_EQ(chip.starts["a"],
              before + static_cast<SimulatedTime>(machine->number("host.launch_latency") * 1e3));
    EXPECT_EQ(line.now(),
              chip.starts["a"] + 10 * kUs +
                  static_cast<SimulatedTime>(machine->number("host.completion_latency") * 1e3));
}

TEST_F(SchedulerTest, ATransferEndsWhenItsTrafficHas) {
    const StreamId a = line.open_stream({}), b = line.open_stream({});
    chip.held_up = 7 * kUs;
    const WorkId first = copy(a, TransferKind::kDeviceToDevice, 4096);
    wait(first);
    const SimulatedTime end = chip.late.at(first);
    EXPECT_EQ(performed, 1);
    EXPECT_GE(line.now(), end);
    EXPECT_LT(line.now(), end + 5 * kUs);
    // Its engine is busy until then.
    copy(a, TransferKind::kDeviceToDevice, 4096);
    const WorkId last = copy(b, TransferKind::kDeviceToDevice, 1024);
    wait(last);
    EXPECT_EQ(performed, 3);
    EXPECT_GE(line.now(), chip.late.rbegin()->second + 1 * kUs);
}

TEST_F(SchedulerTest, AStreamIsInOrderAndStreamsAreBesideEachOther) {
    const StreamId a = line.open_stream({}), b = line.open_stream({});
    launch(a, "a1");
    launch(a, "a2");
    launch(b, "b1");
    wait_all();
    const auto gap = static_cast<SimulatedTime>(machine->number("host.stream_gap") * 1e3);
    EXPECT_EQ(chip.starts["a2"], chip.starts["a1"] + 10 * kUs + gap);
    EXPECT_LT(chip.starts["b1"], chip.starts["a1"] + 10 * kUs);
}

TEST_F(SchedulerTest, TheLegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
    const StreamId a = line.open_stream({}), free = line.open_stream({.joins_default = false});
    launch(a, "before");
    launch(kDefaultStream, "legacy");
    launch(a, "after");
    launch(free, "free");
    wait_all();
    EXPECT_GE(chip.starts["legacy"], chip.starts["before"] + 10 * kUs);
    EXPECT_GE(chip.starts["after"], chip.starts["legacy"] + 10 * kUs);
    EXPECT_LT(chip.starts["free"], chip.starts["legacy"]);
}

TEST_F(SchedulerTest, EventsHoldOtherStreamsBack) {
    const StreamId a = line.open_stream({}), b = line.open_stream({});
    launch(a, "first");
    const WorkId event = line.submit(a, MarkWork{}, {}, Submission::kByItself);
    launch(b, "second", {event});
    wait_all();
    EXPECT_GE(chip.starts["second"], chip.starts["first"] + 10 * kUs);
}

TEST_F(SchedulerTest, CopiesTakeTheLinksTimeInEachDirectionByItself) {
    constexpr std::uint64_t kBytes = 256 << 20;
    const StreamId a = line.open_stream({}), b = line.open_stream({});
    const SimulatedTime begin = mark(a);
    copy(a, TransferKind::kHostToDevice, kBytes);
    const SimulatedTime end = mark(a);
    const double rate = static_cast<double>(kBytes) / static_cast<double>(end - begin) * 1e3;
    EXPECT_NEAR(rate, 53.8, 0.5);  // GB/s: PCIe 5.0 x16
    EXPECT_EQ(performed, 1);

    const SimulatedTime before = line.now();
    copy(a, TransferKind::kHostToDevice, kBytes);
    copy(b, TransferKind::kDeviceToHost, kBytes);
    wait_all();
    const SimulatedTime both = line.now() - before;
    copy(a, TransferKind::kHostToDevice, kBytes);
    copy(b, TransferKind::kHostToDevice, kBytes);
    wait_all();
    const SimulatedTime one_way = line.now() - before - both;
    EXPECT_LT(static_cast<double>(both), 1.1 * static_cast<double>(end - begin));
    EXPECT_GT(static_cast<double>(one_way), 1.9 * static_cast<double>(end - begin));
}

TEST_F(SchedulerTest, PageableCopiesAreAsSlowAsTheHostStagesThem) {
    constexpr std::uint64_t kBytes = 64 << 20;
    const SimulatedTime begin = mark(kDefaultStream);
    copy(kDefaultStream, TransferKind::kHostToDevice, kBytes, true);
    const SimulatedTime end = mark(kDefaultStream);
    const double rate = static_cast<double>(kBytes) / static_cast<double>(end - begin) * 1e3;
    EXPECT_LT(rate, machine->number("host.copy_bandwidth"));
    EXPECT_GT(rate, 0.9 * machine->number("host.copy_bandwidth"));
}

TEST_F(SchedulerTest, AKernelThatWaitsForALaterCopyEnds) {
    const StreamId a = line.open_stream({.joins_default = false});
    const StreamId b = line.open_stream({.joins_default = false});
    const WorkId spins = launch(a, "spins");
    line.submit(b, TransferWork{.bytes = 4, .perform = [this] { chip.flag = true; }}, {},
                Submission::kByItself);
    wait(spins);
    EXPECT_TRUE(chip.flag);
}

TEST_F(SchedulerTest, AsksMoveTheDeviceAsFarAsTheHostIs) {
    const WorkId work = launch(kDefaultStream, "a");
    int asked = 0;
    for (; !line.is_done(work); ++asked) line.poll();
    const double call = machine->number("host.call_time") * 1e3;
    EXPECT_NEAR(asked, static_cast<double>(10 * kUs) / call, 3);
}

TEST_F(SchedulerTest, NoMoreKernelsRunThanTheDeviceTakes) {
    chip.most = 2;
    for (const char* name : {"a", "b", "c"}) launch(line.open_stream({}), name);
    wait_all();
    EXPECT_GE(chip.starts["c"], chip.starts["a"] + 10 * kUs);
    EXPECT_LT(chip.starts["b"], chip.starts["a"] + 10 * kUs);
}

TEST_F(SchedulerTest, AGraphIsOneCallAndItsNodesFollowSooner) {
    line.spend(HostAction::kGraphLaunch);
    const SimulatedTime after_call = line.now();
    WorkId last = 0;
    for (const char* name : {"a", "b"}) {
        KernelWork work;
        work.request.kernel = name;
        last = line.submit(kNoStream, std::move(work), {last}, Submission::kByGraph);
    }
    EXPECT_EQ(line.now(), after_call);
    wait(last);
    EXPECT_EQ(chip.starts["b"],
              chip.starts["a"] + 10 * kUs +
                  static_cast<SimulatedTime>(machine->number("host.graph_gap") * 1e3));
}

TEST_F(SchedulerTest, HostFunctionsRunInTheirTurn) {
    std::vector<std::string> order;
    launch(kDefaultStream, "a");
    line.submit(kDefaultStream, HostWork{[&] { order.push_back("host"); }}, {},
                Submission::kByItself);
    launch(kDefaultStream, "b");
    EXPECT_TRUE(order.empty());
    wait_all();
    EXPECT_THAT(order, testing::ElementsAre("host"));
    EXPECT_GT(chip.starts["b"], chip.starts["a"] + 10 * kUs);
}

TEST_F(SchedulerTest, ReportsWhereTheTimeWent) {
    EXPECT_EQ(line.report(), "");
    launch(kDefaultStream, "a");
    copy(kDefaultStream, TransferKind::kDeviceToHost, 1 << 20);
    wait_all();
    EXPECT_THAT(line.report(), testing::AllOf(testing::HasSubstr("kernels"),
                                              testing::HasSubstr("copies, device to host"),
                                              testing::HasSubstr("GB/s")));
}

TEST_F(SchedulerTest, TracesCallsStreamsEnginesAndWaits) {
    launch(kDefaultStream, "a");
    copy(kDefaultStream, TransferKind::kDeviceToHost, 4096);
    wait_all();
    EXPECT_THAT(chip.traced,
                testing::ElementsAre("host: submit kernel a", "host: submit copy of 4096 bytes",
                                     "stream 0: kernel a", "stream 0: copy of 4096 bytes",
                                     "copy engine to the host: copy of 4096 bytes", "host: wait"));
}

TEST_F(SchedulerTest, RefusedLaunchesLeaveNothing) {
    EXPECT_THROW(launch(kDefaultStream, "refused"), LaunchRefused);
    EXPECT_TRUE(line.is_idle(kNoStream));
}

}  // namespace
}  // namespace lockstep::system
