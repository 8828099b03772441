// SPDX-License-Identifier: Apache-2.0
// Several GPUs of one system (data/streams.cu): whose memory is whose, what a kernel may reach, and
// one clock for all chips.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <set>
#include <systemc>

#include "models/device_group.h"
#include "models/timeline.h"
#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {
namespace {

using testing::HasSubstr;

class Group {
  public:
    explicit Group(bool in_cycles, const DeviceOptions& options = {},
                   const std::vector<std::string>& sets = {}) {
        std::vector<std::string> all = {"sm.count=14", "system.devices=2"};
        all.insert(all.end(), sets.begin(), sets.end());
        devices = make_device_group(config::Machine::load("h200", all), options, in_cycles);
        const std::string path = source_path("tests/models/gpu/data/streams_sm_90.cubin");
        std::ifstream file(path, std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                              std::istreambuf_iterator<char>()};
        module = devices->load_module(cubin::parse(bytes, path));
        line = devices->timeline();
    }
    ~Group() { DeviceGroup::select(0); }

    int* ints(unsigned device, std::size_t count) {
        DeviceGroup::select(device);
        return reinterpret_cast<int*>(devices->allocate(count * sizeof(int)));
    }
    LaunchRequest request(const std::string& kernel, unsigned ctas, unsigned threads) const {
        return {.module = module, .kernel = kernel, .grid = {ctas}, .block = {threads}};
    }
    /// Emulated, or in cycles to its end.
    template <typename... Parameters>
    void run(unsigned device, const std::string& kernel, unsigned ctas, unsigned threads,
             Parameters... parameters) {
        DeviceGroup::select(device);
        if (line != nullptr) {
            submit(device, kernel, ctas, threads, parameters...);
            return wait();
        }
        const std::vector<std::byte> bytes = KernelRunner::packed(parameters...);
        LaunchRequest wanted = request(kernel, ctas, threads);
        wanted.parameters = bytes;
        devices->launch(wanted);
    }
    template <typename... Parameters>
    void submit(unsigned device, const std::string& kernel, unsigned ctas, unsigned threads,
                Parameters... parameters) {
        KernelWork work;
        work.request = request(kernel, ctas, threads);
        work.parameters = KernelRunner::packed(parameters...);
        work.device = device;
        results.push_back(std::make_unique<LaunchResult>());
        work.ended = [result = results.back().get()](const LaunchResult& r) { *result = r; };
        line->submit(line->open_stream({.joins_default = false, .device = device}),
                     std::move(work));
    }
    void wait() {
        while (!line->is_idle(kNoStream)) ASSERT_TRUE(line->step());
        line->resume_host();
    }

    std::unique_ptr<DeviceGroup> devices;
    ModuleHandle module = 0;
    Timeline* line = nullptr;
    std::vector<std::unique_ptr<LaunchResult>> results;
};

double metric(const LaunchResult& result, const std::string& name) {
    for (const auto& [key, value] : result.metrics)
        if (key == name) return value.as_double();
    return -1;
}

class GpuGroup : public testing::TestWithParam<bool> {};

TEST_P(GpuGroup, AddressesTellWhoseMemoryTheyAre) {
    Group group(GetParam());
    EXPECT_EQ(group.devices->count(), 2u);
    int* const own = group.ints(0, 100);
    int* const other = group.ints(1, 100);
    EXPECT_EQ(group.devices->owner(reinterpret_cast<DevicePointer>(own)), 0u);
    EXPECT_EQ(group.devices->owner(reinterpret_cast<DevicePointer>(other + 99)), 1u);
    const std::uint64_t free = group.devices->free_bytes();
    DeviceGroup::select(0);
    EXPECT_EQ(group.devices->free_bytes(), free);
    EXPECT_TRUE(group.devices->free(reinterpret_cast<DevicePointer>(other)));
    EXPECT_EQ(group.devices->free_bytes(), free);
    DeviceGroup::select(1);
    EXPECT_EQ(group.devices->free_bytes(), free + 400);
}

TEST_P(GpuGroup, AKernelReachesAPeersMemoryWhereAccessIsEnabled) {
    Group group(GetParam());
    int* const there = group.ints(1, 1024);
    group.devices->set_peer_access(0, 1, true);
    EXPECT_TRUE(group.devices->has_peer_access(0, 1));
    EXPECT_FALSE(group.devices->has_peer_access(1, 0));
    group.run(0, "add", 4, 256, there, 1024, 5);
    group.run(1, "add", 4, 256, there, 1024, 2);
    for (int i = 0; i < 1024; ++i) ASSERT_EQ(there[i], 7) << i;
    group.devices->set_peer_access(0, 1, false);
    try {
        group.run(0, "add", 4, 256, there, 1024, 5);
        FAIL() << "no fault";
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("to which peer access is not enabled"));
    }
}

TEST_P(GpuGroup, MemoryOfTheHostIsEverybodys) {
    Group group(GetParam());
    DeviceGroup::select(1);
    auto* const host = reinterpret_cast<int*>(group.devices->allocate(4096, MemoryKind::kHost));
    group.run(0, "add", 4, 256, host, 1024, 5);
    EXPECT_EQ(host[1023], 5);
}

INSTANTIATE_TEST_SUITE_P(Modes, GpuGroup, testing::Values(false, true),
                         [](const auto& test) { return test.param ? "in_cycles" : "emulated"; });

/// What two devices do at the same time, and everything that was counted.
std::vector<double> work_of_two(const DeviceOptions& options) {
    Group group(true, options);
    int* const x[2] = {group.ints(0, 8192), group.ints(1, 8192)};
    group.devices->set_peer_access(0, 1, true);
    group.devices->set_peer_access(1, 0, true);
    for (unsigned d = 0; d < 2; ++d) {
        group.submit(d, "chain", 14, 256, x[d], 400);
        group.submit(d, "add", 16, 256, x[1 - d] + 4096, 4096, 3);
    }
    group.wait();
    std::vector<double> all = {static_cast<double>(group.line->now())};
    for (const auto& result : group.results)
        for (const auto& [name, value] : result->metrics) all.push_back(value.as_double());
    for (unsigned d = 0; d < 2; ++d) EXPECT_EQ(x[d][8191], 3);
    return all;
}

TEST(GpuGroupWaits, ALaunchMayWaitForALaterOneOfAnotherDeviceInCycles) {
    Group in_cycles(true);
    int* const flag = in_cycles.ints(0, 1);
    in_cycles.devices->set_peer_access(1, 0, true);
    *flag = 0;
    in_cycles.submit(0, "spin_until", 1, 32, flag, 3, static_cast<int*>(nullptr));
    in_cycles.submit(1, "store", 1, 1, flag, 3);
    in_cycles.wait();
    EXPECT_EQ(*flag, 3);

    Group emulated(false);
    int* const never = emulated.ints(0, 1);
    *never = 0;
    try {
        emulated.run(0, "spin_until", 1, 32, never, 3, static_cast<int*>(nullptr));
        FAIL() << "no fault";
    } catch (const DeviceFault& fault) {
        EXPECT_THAT(fault.what(), HasSubstr("the CTA that runs polls memory that nobody is left to "
                                            "change; emulated devices execute their launches one "
                                            "after the other, only in cycles at the same time"));
    }
}

TEST(GpuGroupInCycles, DoesTheSameForAnyThreadsAndOrder) {
    const std::vector<double> expected = work_of_two({});
    EXPECT_GT(expected.size(), 20u);
    EXPECT_EQ(work_of_two({.threads = 3}), expected);
    EXPECT_EQ(work_of_two({.shuffle = 7}), expected);
}

std::set<std::string> names_of(const std::vector<sc_core::sc_object*>& objects) {
    std::set<std::string> names;
    for (const sc_core::sc_object* const object : objects) {
        EXPECT_TRUE(names.insert(object->name()).second) << object->name();
        names.merge(names_of(object->get_child_objects()));
    }
    return names;
}

TEST(GpuGroupInCycles, SystemcNamesTellTheDevice) {
    DeviceOptions options;
    options.trace.signals = true;
    options.trace.last_sm = 1;
    Group group(true, options, {"system.devices=3"});
    group.run(0, "add", 1, 32, group.ints(0, 32), 32, 1);
    const std::set<std::string> names = names_of(sc_core::sc_get_top_level_objects());
    for (int device = 0; device < 3; ++device) {
        const std::string chip = fmt::format("h200.gpu{}.", device);
        for (const char* name :
             {"sm0", "sm0.requests0", "sm1.sub_core3.warp", "sm1.L1_misses", "l2_0.partition0",
              "peers", "peers.requests0", "peers.peer_requests0", "peers.peer_replies13",
              "cluster_network0"})
            EXPECT_TRUE(names.contains(chip + name)) << chip << name;
        for (int other = 0; other < 3; ++other)
            for (const char* name : {"peers.to_gpu", "peers.from_gpu"})
                EXPECT_EQ(names.contains(chip + name + std::to_string(other)), other != device);
    }
    EXPECT_FALSE(names.contains("h200.sm0"));
    // SystemC gives a name that exists already a number of its own.
    for (const std::string& name : names)
        EXPECT_FALSE(name.ends_with("_0") && names.contains(name.substr(0, name.size() - 2)))
            << name;
}

TEST(GpuGroupInCycles, KernelsOfTwoDevicesOverlapInTime) {
    Group group(true);
    int* const x[2] = {group.ints(0, 128), group.ints(1, 128)};
    const SimulatedTime begin = group.line->now();
    group.submit(0, "chain", 1, 128, x[0], 20'000);
    group.wait();
    const SimulatedTime one = group.line->now() - begin;
    for (unsigned d = 0; d < 2; ++d) group.submit(d, "chain", 1, 128, x[d], 20'000);
    group.wait();
    const SimulatedTime two = group.line->now() - begin - one;
    EXPECT_LT(static_cast<double>(two), 1.3 * static_cast<double>(one));
    // Each has its chip for itself.
    for (const auto& result : group.results)
        EXPECT_EQ(metric(*result, "lockstep__shared_the_chip"), -1);
    // Both devices' first launches: but for the phases of their DRAM.
    EXPECT_NEAR(metric(*group.results[2], "sm__cycles_elapsed.max"),
                metric(*group.results[0], "sm__cycles_elapsed.max"), 400);
}

TEST(GpuGroupInCycles, AccessesOfAPeersMemoryTakeTheLinksTime) {
    const auto cycles = [](const std::vector<std::string>& sets, unsigned owner) {
        Group group(true, {}, sets);
        int* const x = group.ints(owner, 1 << 16);
        group.devices->set_peer_access(0, 1, true);
        group.run(0, "add", 256, 256, x, 1 << 16, 1);
        return metric(*group.results[0], "sm__cycles_elapsed.max");
    };
    const double own = cycles({}, 0), peers = cycles({}, 1);
    EXPECT_GT(peers, own + 1500);  // two ways of 500 ns at 1.98 GHz
    EXPECT_GT(cycles({"peer.latency=1000"}, 1), peers + 1500);
    // 256 KiB to and fro over a link of 25 GB/s: 10 us.
    EXPECT_GT(cycles({"peer.links=1"}, 1), 20'000);
    EXPECT_GT(cycles({"peer.kind=pcie"}, 1), peers);
}

TEST(GpuGroupInCycles, CopiesBetweenDevicesHaveTheirWaysRate) {
    constexpr std::uint64_t kBytes = 64 << 20;
    const auto rate = [](const std::vector<std::string>& sets, bool is_staged, int ways) {
        Group group(true, {}, sets);
        const SimulatedTime begin = group.line->now();
        for (int way = 0; way < ways; ++way)
            group.line->submit(group.line->open_stream({.joins_default = false}),
                               TransferWork{.kind = TransferKind::kPeerToPeer,
                                            .bytes = kBytes,
                                            .device = way % 2 == 0 ? 0u : 1u,
                                            .peer = way % 2 == 0 ? 1u : 0u,
                                            .is_staged = is_staged});
        group.wait();
        return static_cast<double>(kBytes) * 1e3 / static_cast<double>(group.line->now() - begin);
    };
    EXPECT_NEAR(rate({}, false, 1), 420, 15);
    EXPECT_NEAR(rate({}, false, 2), 420, 25);  // the two directions at once
    EXPECT_NEAR(rate({"peer.kind=pcie"}, false, 1), 53, 2);
    const double staged = rate({"peer.kind=none"}, true, 1);
    EXPECT_GT(staged, 30);
    EXPECT_LT(staged, 53);
}

}  // namespace
}  // namespace lockstep
