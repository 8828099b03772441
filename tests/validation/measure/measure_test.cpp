// SPDX-License-Identifier: Apache-2.0
// The measuring program against a CUDA driver made of the emulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "tests/paths.h"
#include "validation/measure/measure_pair.h"
#include "validation/measure/ncu_csv.h"
#include "validation/measure/packed.h"
#include "workloads/cuda/kernel_images.h"

namespace lockstep::validation {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

const std::shared_ptr<const Driver>& driver() {
    static const auto loaded = Driver::load(LOCKSTEP_FAKE_DRIVER);
    return loaded;
}

MeasureOptions quick() {
    MeasureOptions options{.cold_repeats = 3, .warm_repeats = 2, .runs = 3};
    options.device.warm_up_cycles = 1000;
    options.device.spin_cycles = 10;
    options.device.clock_cycles = 100;
    return options;
}

MeasuredPair measure(const std::string& group, const std::string& workload) {
    return measure_pair({group, workload}, driver(), config::Machine::load("h200"), quick());
}

TEST(Sha256, GivesThePublishedDigests) {
    const auto digest = [](const std::string& text) {
        return stats::sha256(std::as_bytes(std::span(text)));
    };
    EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(CudaDevice, RunsAWorkloadAsADeviceOfOursDoes) {
    const MeasuredPair pair = measure("elementwise", "sgd:n=3000");
    ASSERT_EQ(pair.launches.size(), 1u);
    const MeasuredLaunch& launch = pair.launches[0];
    EXPECT_EQ(launch.cold.size(), 3u);
    EXPECT_EQ(launch.warm.size(), 2u);
    EXPECT_EQ(launch.first.size(), 2u);
    // SGD changes its operands in place: each repeat began with the same ones, or the check would
    // have failed, and each took the same instructions.
    ASSERT_FALSE(pair.checks.empty());
    for (const MeasuredCheck& check : pair.checks) EXPECT_TRUE(check.passed) << check.message;
    for (const double time : launch.cold) EXPECT_EQ(time, launch.first[0]);
    ASSERT_EQ(launch.outputs.size(), 2u);
    for (const MeasuredOutput& output : launch.outputs) EXPECT_TRUE(output.is_reproducible);
    EXPECT_EQ(pair.cubins.at("sgd"), stats::sha256(cuda::kernel_image("sgd", 90)));
}

TEST(CudaDevice, TellsWhatDependsOnAddresses) {
    const MeasuredPair pair = measure("micro", "micro_l1_latency");
    ASSERT_EQ(pair.launches.size(), 1u);
    EXPECT_TRUE(pair.launches[0].cold.empty());
    EXPECT_EQ(pair.launches[0].first.size(), 3u);
    ASSERT_EQ(pair.values.size(), 1u);
    EXPECT_EQ(pair.values[0].values.size(), 3u);
    for (const MeasuredCheck& check : pair.checks) EXPECT_TRUE(check.passed) << check.message;
    bool any = false;
    for (const MeasuredOutput& output : pair.launches[0].outputs) any |= !output.is_reproducible;
    EXPECT_TRUE(any) << "the last pointers of a chase differ with the array's address";
}

TEST(CudaDevice, SendsAndFetchesVariables) {
    const MeasuredPair pair = measure("micro", "micro_constant_latency");
    ASSERT_FALSE(pair.checks.empty());
    for (const MeasuredCheck& check : pair.checks) EXPECT_TRUE(check.passed) << check.message;
}

TEST(CudaDevice, GivesDynamicSharedMemory) {
    const MeasuredPair pair = measure("attention", "attention_mma:heads=1,seq=64,d=64");
    for (const MeasuredCheck& check : pair.checks) EXPECT_TRUE(check.passed) << check.message;
}

TEST(CudaDevice, ReadsTablesOfTheTranscendentalUnit) {
    CudaDevice device(driver(), config::Machine::load("h200"), quick().device);
    const std::vector<float> values = device.table("rcp", 0x40000000, 1000);
    ASSERT_EQ(values.size(), 1000u);
    EXPECT_EQ(values[0], 0.5f);
    EXPECT_NEAR(device.measure_sm_clock(), 0, 1e9);
    EXPECT_THROW(device.table("nothing", 0, 1), ProgramFault);
}

TEST(CudaDevice, RefusesAnotherMachine) {
    EXPECT_THROW(CudaDevice(driver(), config::Machine::load("a100"), {}), InputError);
}

TEST(Driver, SaysWhatIsMissing) {
    try {
        Driver::load("libnothing_of_the_kind.so.1");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("no CUDA driver on this machine"));
    }
}

/// The program, run as a user does.
int run_program(const std::string& arguments, const std::string& environment = "") {
    const std::string command =
        environment + " " + binary_path("bin/lockstep_measure ") + arguments + " >/dev/null 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
}

std::string slurp(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

class Program : public testing::Test {
  protected:
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }
    const fs::path folder_ = fs::path(testing::TempDir()) /
                             testing::UnitTest::GetInstance()->current_test_info()->name();
    const std::string common_ = "--driver " LOCKSTEP_FAKE_DRIVER
                                " --sample --warm-up-cycles 1000 "
                                "--cold-repeats 1 --warm-repeats 1 --runs 2 ";
};

TEST_F(Program, EndsWithTwoWhereThereIsNoGpu) {
    EXPECT_EQ(run_program("--driver libnothing.so --out " + folder_.string()), 2);
    EXPECT_EQ(run_program(common_ + "--out " + folder_.string(), "LOCKSTEP_FAKE_NO_GPU=1"), 2);
}

TEST_F(Program, GoesOnAfterAFaultAndNamesIt) {
    std::ofstream(folder_ / "plan.csv") << "a,vector_add:n=100\na,relu:n=100\na,sgd:n=100\n";
    EXPECT_EQ(run_program(common_ + "--plan " + (folder_ / "plan.csv").string() + " --out " +
                              folder_.string(),
                          "LOCKSTEP_FAKE_FAULT=relu"),
              3);
    const MeasurementFile file = read_measurements(slurp(folder_ / "a.json"), "a.json");
    EXPECT_TRUE(file.provenance.is_sample);
    EXPECT_EQ(file.pairs.size(), 2u);
    ASSERT_EQ(file.failures.size(), 1u);
    EXPECT_EQ(file.failures[0].first, "relu:n=100");
    EXPECT_THAT(file.failures[0].second, HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
}

TEST_F(Program, ProfilesOnceAndListsTheLaunches) {
    const std::string manifest = (folder_ / "m.json").string();
    EXPECT_EQ(run_program(common_ + "--profile --only reduce:n=2048 --manifest " + manifest), 0);
    const CounterFile file = read_counters(slurp(manifest), manifest);
    ASSERT_EQ(file.pairs.size(), 1u);
    EXPECT_FALSE(file.pairs[0].launches.empty());
}

TEST_F(Program, RunsOnOurDriverAsOnTheirs) {
    std::ofstream(folder_ / "plan.csv") << "a,relu:n=100\na,reduce:n=2048\n";
    EXPECT_EQ(run_program("--driver " LOCKSTEP_OUR_DRIVER
                          " --sample --warm-up-cycles 1000 --cold-repeats 1 --warm-repeats 1 "
                          "--runs 2 --plan " +
                              (folder_ / "plan.csv").string() + " --out " + folder_.string(),
                          "LOCKSTEP_MODE=emulate"),
              0);
    const MeasurementFile file = read_measurements(slurp(folder_ / "a.json"), "a.json");
    EXPECT_EQ(file.pairs.size(), 2u);
    EXPECT_TRUE(file.failures.empty());
}

TEST_F(Program, WritesTables) {
    EXPECT_EQ(run_program(common_ + "--tables --table-entries 1000 --out " + folder_.string()), 0);
    EXPECT_THAT(slurp(folder_ / "tables/index.json"), HasSubstr("mufu_tanh.zst"));
    EXPECT_GT(fs::file_size(folder_ / "tables/mufu_rcp.zst"), 8u);
}

TEST_F(Program, GoesOnWhereItStopped) {
    std::ofstream(folder_ / "plan.csv") << "a,relu:n=100\na,sgd:n=100\n";
    const std::string all =
        common_ + "--plan " + (folder_ / "plan.csv").string() + " --out " + folder_.string();
    EXPECT_EQ(run_program(all + " --part 1/2"), 0);
    const std::string first = slurp(folder_ / "a.json");
    EXPECT_EQ(read_measurements(first, "a.json").pairs.size(), 1u);
    EXPECT_EQ(run_program(all), 0);
    const MeasurementFile file = read_measurements(slurp(folder_ / "a.json"), "a.json");
    ASSERT_EQ(file.pairs.size(), 2u);
    EXPECT_EQ(file.provenance.date, read_measurements(first, "a.json").provenance.date);
    // The bytes of small outputs are kept by their hash.
    const MeasuredOutput& output = file.pairs[0].launches[0].outputs.at(0);
    const std::string packed = slurp(output_path(folder_ / "outputs", output.output.sha256));
    EXPECT_EQ(stats::sha256(unpack(packed, 400, "x")), output.output.sha256);
    EXPECT_THROW(unpack(packed, 399, "x"), InputError);
    EXPECT_THROW(unpack(packed.substr(0, packed.size() / 2), 400, "x"), InputError);
    // What was measured otherwise is not mixed with it.
    EXPECT_EQ(run_program(all + " --seed 5"), 2);
}

/// A profiler that runs the program and prints what ncu does: 7 for every metric. Like one on a
/// chip without two of the counters it refuses them, one at a time.
constexpr const char* kFakeNcu = R"(#!/usr/bin/env python3
import json, os, subprocess, sys
a = sys.argv[1:]
if a == ['--version']: print('fake'); sys.exit(0)
if '--print-metric-name' in a: print("==ERROR== Option '--print-metric-name' is only supported for the details page."); sys.exit(1)
if os.environ.get('BLIND') and '--profile-from-start' in a: print('==WARNING== No kernels were profiled.'); sys.exit(0)
if os.environ.get('BROKEN'): print('==ERROR== Failed to initialize the profiler: LibraryNotLoaded'); sys.exit(1)
log, metrics = a[a.index('--log-file') + 1], a[a.index('--metrics') + 1].split(',')
for refused, shown in (('lts__t_sectors.sum', 'lts__t_sectors.sum'), ('dram__bytes_read.sum', 'regex:^dram__bytes_read\\.(sum|min|max)$')):
    if refused in metrics: print('==ERROR== Failed to find metric ' + shown); sys.exit(1)
if subprocess.call(a[a.index('--log-file') + 2:]) != 0: sys.exit(1)
q = lambda fields: ','.join('"%s"' % (f,) for f in fields) + '\n'
unit = lambda m: 'ns' if 'duration' in m else 'byte' if 'bytes' in m else 'hz' if 'per_second' in m else '%' if 'pct' in m else ''
with open(log, 'w') as f:
    f.write('==PROF== Connected to process 7 (/a "b", c)\n')
    f.write(q(['ID', 'Process ID', 'Process Name', 'Host Name', 'Kernel Name', 'Context', 'Stream', 'Block Size', 'Grid Size', 'Device', 'CC'] + metrics))
    f.write(q([''] * 11 + [unit(m) for m in metrics]))
    n = 0
    for pair in json.load(open(a[a.index('--manifest') + 1]))['pairs']:
        for l in pair['launches']:
            f.write('==PROF== Profiling "%s" - %d: 0%%....50%%....100%% - 9 passes\n' % (l['kernel'], n))
            f.write(q([n, 7, 'lockstep_measure', '127.0.0.1', l['kernel'], 1, 7, tuple(l['block']), tuple(l['grid']), 0, '9.0'] + ['7,000' if 'cycles' in m else '7' for m in metrics]))
            n += 1
    f.write('==PROF== Disconnected from process 7\n==WARNING== Data collection happened without fixed GPU frequencies.\n')
)";

class Script : public Program {
  protected:
    void SetUp() override {
        Program::SetUp();
        if (std::system("python3 -c 'import json'") != 0) GTEST_SKIP() << "skipped: no python3";
        std::ofstream(folder_ / "plan.csv") << "b,relu:n=2048\n";
        std::ofstream(folder_ / "ncu") << kFakeNcu;
        fs::permissions(folder_ / "ncu", fs::perms::owner_all);
    }
    int run(const std::string& arguments, const std::string& environment = "") const {
        const std::string command =
            environment + " LOCKSTEP_BUILD=" + binary_path() +
            " LOCKSTEP_NCU=" + (folder_ / "ncu").string() + " LOCKSTEP_MEASURE_OPTIONS='" +
            common_ + "--table-entries 500 --plan " + (folder_ / "plan.csv").string() + "' " +
            source_path("validation/measure/run.sh ") + arguments + " >" +
            (folder_ / "log").string() + " 2>&1";
        return WEXITSTATUS(std::system(command.c_str()));
    }
};

TEST_F(Script, DoesItAllAndPacksIt) {
    const std::string out = (folder_ / "out").string(), pack = (folder_ / "pack").string();
    EXPECT_EQ(run(out + " --pack " + pack), 0) << slurp(folder_ / "log");
    const std::string name = out + "/counters_cold_full_b.json";
    const CounterFile file = read_counters(slurp(name), name);
    ASSERT_EQ(file.pairs.size(), 1u);
    EXPECT_EQ(file.pairs[0].launches[0].metrics.at("sm__cycles_elapsed.max"), 7000);
    EXPECT_EQ(file.metrics.size(), profiled_metrics().size() - 1);  // one has another name
    for (const char* made : {"b.json", "counters_warm_full_b.json", "counters_cold_quick_b.json",
                             "tables/index.json", "summary.txt"})
        EXPECT_TRUE(fs::exists(folder_ / "out" / made)) << made;
    // A later call finds everything in the pack.
    EXPECT_EQ(run((folder_ / "again").string() + " --from " + pack, "BLIND=1"), 0)
        << slurp(folder_ / "log");
    EXPECT_THAT(slurp(folder_ / "log"), HasSubstr("1 pairs measured (1 before)"));
}

TEST_F(Script, LeavesOutABrokenProfiler) {
    const std::string out = (folder_ / "out").string();
    const std::string pack = (folder_ / "pack").string(), later = (folder_ / "later").string();
    EXPECT_EQ(run(out + " --pack " + pack, "BROKEN=1"), 3);
    EXPECT_THAT(slurp(folder_ / "log"), HasSubstr("it does not work"));
    EXPECT_TRUE(fs::exists(folder_ / "out/tables/index.json"));
    // On another machine it is tried again.
    EXPECT_EQ(run(later + " --from " + pack), 0) << slurp(folder_ / "log");
    EXPECT_TRUE(fs::exists(later + "/counters_cold_full_b.json"));
}

TEST_F(Script, TakesAProfilerThatLooksAtEverything) {
    std::ofstream(folder_ / "plan.csv") << "micro,micro_branch\n";  // no counters but quick ones
    EXPECT_EQ(run((folder_ / "out").string(), "BLIND=1"), 0) << slurp(folder_ / "log");
    EXPECT_TRUE(fs::exists(folder_ / "out/counters_cold_quick_micro.json"));
}

TEST_F(Script, SaysWhatIsLeftWhenTimeIsUp) {
    EXPECT_EQ(run((folder_ / "out").string() + " --limit 1"), 75);
    EXPECT_THAT(slurp(folder_ / "log"), HasSubstr("not yet, call again: pairs"));
}

TEST(Plan, NamesWorkloadsThatThereAre) {
    const auto& plan = measurement_plan();
    EXPECT_GE(plan.size(), 150u);
    try {
        parse_plan("a,relu\nb,rellu\n", "p.csv");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("p.csv:2: there is no workload 'rellu'"));
    }
}

}  // namespace
}  // namespace lockstep::validation
