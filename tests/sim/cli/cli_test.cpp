// SPDX-License-Identifier: Apache-2.0
// The contract of the command line: forms, output and exit status of the built program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "run_program.h"
#include "tests/isa/sass/tensor_core/xz.h"
#include "tests/paths.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder of this process that goes away with the test.
class Cli : public testing::Test {
  protected:
    Cli() : folder_(fs::path(testing::TempDir()) / ("cli_" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~Cli() override { fs::remove_all(folder_); }
    std::string path(const std::string& name) const { return folder_ / name; }
    std::string write(const std::string& name, const std::string& contents) const {
        std::ofstream(path(name), std::ios::binary) << contents;
        return path(name);
    }
    static std::string read(const std::string& file) {
        std::ostringstream text;
        text << std::ifstream(file, std::ios::binary).rdbuf();
        return text.str();
    }

    const std::string cubin = source_path("workloads/cuda/cubin/sm_90/vector_add.cubin");

  private:
    fs::path folder_;
};

TEST_F(Cli, ListsMachinesAndWorkloads) {
    const Result machines = lockstep("machines");
    EXPECT_EQ(machines.status, 0);
    for (const char* name : {"h200", "h100", "a100", "rtx3090", "rtx4090", "t4", "v100"})
        EXPECT_THAT(machines.output, HasSubstr(name));
    EXPECT_THAT(lockstep("machines h200").output,
                AllOf(HasSubstr("sm.count"), HasSubstr("132"), HasSubstr("published: ")));
    EXPECT_THAT(lockstep("workloads").output, AllOf(HasSubstr("vector_add"), HasSubstr("sgemm")));
    EXPECT_THAT(lockstep("workloads sgemm").output, HasSubstr("m "));
}

TEST_F(Cli, RunsAWorkloadAndWritesStatistics) {
    const Result result =
        lockstep("run vector_add:n=1000 --mode emulate --verify --stats " + path("stats.json"));
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("verified"));
    const auto stats = nlohmann::json::parse(read(path("stats.json")));
    EXPECT_EQ(stats["schema"], 1);
    EXPECT_EQ(stats["machine"], "h200");
    EXPECT_EQ(stats["mode"], "emulate");
    EXPECT_EQ(stats["workload"], "vector_add:n=1000");
    ASSERT_EQ(stats["steps"].size(), 1u);
    EXPECT_EQ(stats["steps"][0]["name"], "vector_add");
    EXPECT_EQ(stats["steps"][0]["block"][0], 256);
    EXPECT_GT(stats["steps"][0]["metrics"]["smsp__inst_executed.sum"], 0);
    EXPECT_GT(stats["simulator"]["instructions_per_second"], 0);
    EXPECT_LT(stats["simulator"]["instructions_per_second"], 1e10);
}

TEST_F(Cli, SimulatesTheSelectedLaunchesOnly) {
    const std::string run = "run reduce:n=100000 --verify --stats " + path("stats.json");
    const Result result = lockstep(run + " --launch-skip 1");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, AllOf(HasSubstr("1 of 2 launches were emulated"),
                                     HasSubstr("Elapsed Cycles"), HasSubstr("verified")));
    const auto steps = nlohmann::json::parse(read(path("stats.json")))["steps"];
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0]["mode"], "emulate");
    EXPECT_FALSE(steps[0]["metrics"].contains("sm__cycles_elapsed.max"));
    EXPECT_FALSE(steps[1].contains("mode"));
    EXPECT_GT(steps[1]["metrics"]["sm__cycles_elapsed.max"], 0);
}

TEST_F(Cli, RefusesSelectionsThatMeanNothing) {
    const auto refused = [](const std::string& arguments, const std::string& message) {
        const Result result = lockstep("run " + arguments);
        EXPECT_EQ(result.status, 2) << result.output;
        EXPECT_THAT(result.output, HasSubstr(message));
    };
    refused("vector_add --kernel 'a(b'", "--kernel a(b: no regular expression: at character");
    refused("vector_add --kernel add --mode emulate", "need --mode cycle");
    refused("gemm:m=8,n=8,k=8 --on systolic --launch-count 1",
            "--launch-count is for an executable or a built-in kernel or a network on a GPU");
    refused(cubin + " --launch-skip 1",
            "--launch-skip is for an executable or a built-in kernel or a network; ");
}

TEST_F(Cli, SimulatesAWorkload) {
    const std::string run = "run vector_add:n=5000 --verify --stats " + path("stats.json");
    const Result result = lockstep(run + " --trace " + path("trace.json"));
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, AllOf(HasSubstr("verified"), HasSubstr("Elapsed Cycles"),
                                     HasSubstr("Where the warps' time went")));
    EXPECT_LE(std::count(result.output.begin(), result.output.end(), '\n'), 26);
    const auto stats = nlohmann::json::parse(read(path("stats.json")));
    EXPECT_EQ(stats["mode"], "cycle");
    const auto metrics = stats["steps"][0]["metrics"];
    EXPECT_EQ(stats["totals"]["cycles"], metrics["sm__cycles_elapsed.max"]);
    EXPECT_GT(stats["totals"]["seconds"], 0);
    EXPECT_EQ(metrics["smsp__sass_inst_executed_op_global_st.sum"], 157);  // 5000 in warps
    EXPECT_EQ(metrics["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"], 5000);
    for (const auto& [name, value] : metrics.items()) {
        EXPECT_GE(value, 0) << name;
        const bool is_share = name.ends_with(".pct") || name.find("pct_of_peak") != name.npos;
        if (is_share) {
            EXPECT_LE(value, 100) << name;
        }
    }
    const auto trace = nlohmann::json::parse(read(path("trace.json")));
    EXPECT_GT(trace["traceEvents"].size(), 500u);
    std::map<int, std::vector<std::pair<std::uint64_t, std::uint64_t>>> slices;  // by track
    for (const auto& event : trace["traceEvents"])
        if (event["ph"] == "X")
            slices[event["tid"]].emplace_back(
                event["ts"], event["ts"].get<std::uint64_t>() + event["dur"].get<std::uint64_t>());
    EXPECT_GT(slices.size(), 20u);
    for (auto& [track, list] : slices) {
        std::sort(list.begin(), list.end());
        for (std::size_t i = 1; i < list.size(); ++i)
            EXPECT_LE(list[i - 1].second, list[i].first) << "track " << track;
    }

    ASSERT_EQ(lockstep(run + " --mode emulate").status, 0);
    const auto emulated = nlohmann::json::parse(read(path("stats.json")));
    for (const auto& [name, value] : emulated["steps"][0]["metrics"].items())
        EXPECT_EQ(value, metrics[name]) << name;
}

TEST_F(Cli, TracesTheSameForAnyThreads) {
    const std::string run =
        "run softmax:rows=64,cols=300 --quiet --trace-sms 0-3 --trace-window "
        "500:2000 --trace ";
    ASSERT_EQ(lockstep(run + path("one.kanata")).status, 0);
    ASSERT_EQ(lockstep(run + path("three.kanata") + " --threads 3").status, 0);
    EXPECT_GT(read(path("one.kanata")).size(), 10000u);
    const std::string log = read(path("one.kanata"));
    EXPECT_EQ(log, read(path("three.kanata")));
    EXPECT_THAT(log, HasSubstr("\t1\tmask ffffffff\n"));
    std::istringstream lines(log);
    std::size_t issued = 0, retired = 0;
    for (std::string line; std::getline(lines, line);) {
        issued += line.starts_with("I\t");
        retired += line.starts_with("R\t");
    }
    EXPECT_EQ(issued, retired);
    const Result result =
        lockstep("run vector_add --on a100 --trace-sms 108 --trace " + path("t.json"));
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, HasSubstr("a100 has no SM 108"));
}

TEST_F(Cli, RunsACubinsKernel) {
    std::string a(4000, '\0'), b(4000, '\0');
    for (int i = 0; i < 1000; ++i) {
        const float x = static_cast<float>(i), y = 0.5f;
        std::memcpy(&a[4 * i], &x, 4);
        std::memcpy(&b[4 * i], &y, 4);
    }
    const Result result =
        lockstep("run " + cubin + " --kernel vector_add --mode emulate --grid 4" +
                 " --block 256 --arg in:" + write("a", a) + " --arg in:" + write("b", b) +
                 " --arg out:4000:" + path("c") + " --arg 1000");
    ASSERT_EQ(result.status, 0) << result.output;
    const std::string c = read(path("c"));
    ASSERT_EQ(c.size(), 4000u);
    for (int i = 0; i < 1000; ++i) {
        float sum;
        std::memcpy(&sum, &c[4 * i], 4);
        EXPECT_EQ(sum, static_cast<float>(i) + 0.5f);
    }
}

TEST_F(Cli, PassesArgumentsToTheLastByte) {
    const std::string small =
        write("small.cubin",
              read_xz(source_path("tests/models/gpu/data/parameters/cubin/O3.sm_90.cubin.xz")));
    const std::string run = "run " + small + " --mode emulate --quiet --kernel ";
    Result result = lockstep(run + "tail_s8_1 --arg out:8:" + path("sum") + " --arg 3 --arg -5");
    ASSERT_EQ(result.status, 0) << result.output;
    std::int64_t sum = 0;
    ASSERT_EQ(read(path("sum")).size(), sizeof sum);
    std::memcpy(&sum, read(path("sum")).data(), sizeof sum);
    EXPECT_EQ(sum, (std::int64_t{3} << 32) - 5);

    for (const char* number : {"256", "-129", "0x1ff"}) {
        result = lockstep(run + "tail_s8_1 --arg zeros:8 --arg 3 --arg " + number);
        EXPECT_EQ(result.status, 2) << number;
        EXPECT_THAT(result.output, HasSubstr("does not fit the 1 byte of the kernel's parameter"));
    }

    result = lockstep(run + "copy_bytes --block 7 --arg out:7:" + path("seven") + " --arg iota:7");
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(read(path("seven")), std::string("\0\0\0\0\1\0\0", 7));
}

TEST_F(Cli, BoundsAreExactOrOfPages) {
    const std::string small =
        write("small.cubin",
              read_xz(source_path("tests/models/gpu/data/parameters/cubin/O3.sm_90.cubin.xz")));
    for (const char* mode : {"emulate", "cycle"}) {
        const std::string run = "run " + small + " --kernel copy_bytes --block 16 --mode " + mode +
                                " --arg zeros:15 --arg zeros:15 --quiet";
        const Result exact = lockstep(run);
        EXPECT_EQ(exact.status, 3) << exact.output;
        EXPECT_THAT(exact.output, HasSubstr("the end of a 15-byte allocation"));
        const Result page = lockstep(run + " --bounds page");
        EXPECT_EQ(page.status, 0) << page.output;
    }
    const Result tpu = lockstep("run gemm --on tpu_v1 --bounds page");
    EXPECT_EQ(tpu.status, 2);
    EXPECT_THAT(tpu.output, HasSubstr("--bounds is for a GPU"));
}

TEST_F(Cli, SaysWhatIsWrongWithTheInput) {
    const auto expect = [](const std::string& arguments, const std::string& text) {
        const Result result = lockstep(arguments);
        EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
        EXPECT_THAT(result.output, HasSubstr(text)) << arguments;
    };
    expect("", "a verb is missing");
    expect("run vector_add --threds 2", "--threds; did you mean --threads?");
    expect("run vector_add --set=l2.size=30", "less than one set of");
    expect("fly", "fly");
    expect("compare --suite scalesin", "did you mean scalesim?");
    expect("run", "X is required");
    expect("run vektor_add --mode emulate", "vector_add");
    expect("run --mode emulate --set sm.count=14 vektor_add 3", "vector_add");
    expect("run vector_add:m=5 --mode emulate", "m");
    expect("run vector_add:n=five --mode emulate", "five");
    expect("run vector_add --mode emulate --on h20", "did you mean h200?");
    expect("run vector_add --mode emulate --set sm.cont=1", "did you mean sm.count?");
    expect("run vector_add --mode emulate --stats x.txt", "x.txt");
    expect("run vector_add --mode emulate --stats " + path("no/such/folder.json"), "cannot be");
    expect("run vector_add --mode emulate --grid 4",
           "--grid is for a cubin; vector_add is a built-in kernel");
    expect("run vector_add --mode emulate -- 5", "takes no arguments");
    expect("run " + cubin + " --mode emulate --verify",
           "--verify is for a built-in kernel or a network; ");
    expect("run /usr/bin/env --mode emulate --verify",
           "--verify is for a built-in kernel or a network; ");
    expect("run " + path("") + " --mode emulate", "not a file");
    expect("run /no/such/file.cubin --mode emulate", "no such file");
    expect("run " + write("junk", "not a program") + " --mode emulate", "neither");
    expect("run " + write("cut.cubin", read(cubin).substr(0, 700)) + " --mode emulate",
           "cut.cubin");
    expect("run " + cubin + " --mode emulate --kernel vectoradd", "did you mean vector_add?");
    expect("run " + cubin + " --mode emulate --kernel vector_add --arg 1", "4 parameters");
    expect("run " + cubin + " --mode emulate --on a100 --arg zeros:4 --arg zeros:4 --arg zeros:4" +
               " --arg 1",
           "sm_90");
    expect("run vector_add --mode emulate --seed -1", "-1 is not a whole number");
    expect("run vector_add --mode emulate --max-instructions 1e3", "1e3 is not a whole number");
    expect("run vector_add --mode emulate --set sm.count=1.5", "1.5 is not a whole number");
    expect("run gemm:dtype=bf16 --mode emulate", "on a GPU it is fp32, fp16 or int8");
    expect("run resnet50 --on v100", "compute capability 7.0");
    expect("run sgemm --on tpu_v1", "is a built-in kernel, which runs on a GPU (--on h200)");
    expect("run sgemm --on systolic", "is a built-in kernel, which runs on a GPU (--on h200)");
    expect("run gem --on tpu_v1", "did you mean gemm?");
    expect("run sgemm --schedule", "--schedule is for a network");
    expect("run gemm --on systolic --schedule", "--schedule is for a network");
    expect("run absent.onnx --on tpu_v1", "no such file");
    const std::string folder = fs::path(path("")).parent_path();
    expect("disasm " + folder, "is a folder");
    expect("run " + cubin + " --mode emulate --arg in:" + folder +
               " --arg zeros:4 --arg zeros:4 --arg 1",
           "is a folder");
    expect("run " + cubin + " --mode emulate --arg zeros:4 --arg zeros:4 --arg out:4:" +
               path("no/such/file") + " --arg 1",
           "cannot be written");
    expect("run vector_add --mode emulate --stats ''", "the name is empty");
    expect("compare --suite tpu_measured --html ''", "the name is empty");
    expect("machines --set sm.count=3", "of which machine?");
    expect("machines " + write("empty.yaml", ""), "empty.yaml");
    expect("compare --html x.html", "--html needs --suite");
    expect("compare --suite tpu_measured --measured x", "--measured is for suite h200");
    expect("compare --suite tpu_measured --html " + path("no/such/page.html"), "cannot be written");
    expect("workloads gem", "did you mean gemm?");
    expect("machines h20", "did you mean h200?");
    expect("disasm " + path("junk"), "neither");
    expect("disasm " + cubin + " --kernel nothing", "nothing");
}

TEST_F(Cli, StatisticsNameTheMachineOfAFile) {
    const std::string machine = write("half.yaml",
                                      "machine: half\nkind: gpu\ndescription: half a chip\n"
                                      "base: h200\nsm:\n  count: {value: 66, unit: 1, "
                                      "evidence: \"assumed: half of it\"}\n");
    const std::string stats = path("half.json");
    const Result result =
        lockstep("run vector_add:n=32 --mode emulate --on " + machine + " --stats " + stats);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(nlohmann::json::parse(read(stats))["machine"], "half");
}

TEST_F(Cli, NamesAProductByTheTypeOfItsOperands) {
    for (const auto& [type, kernel] :
         {std::pair{"", "sgemm"}, {",dtype=fp16", "hgemm"}, {",dtype=int8", "igemm"}}) {
        const Result result =
            lockstep(std::string("run gemm:m=16") + type + ",n=16,k=16 --mode emulate --verify");
        EXPECT_EQ(result.status, 0) << result.output;
        EXPECT_THAT(result.output, AllOf(HasSubstr(kernel), HasSubstr("verified")));
    }
}

TEST_F(Cli, WhatCannotBePrintedIsAnError) {
    const auto status = [](const std::string& arguments) {
        const std::string program = binary_path("bin/lockstep ");
        return WEXITSTATUS(std::system((program + arguments).c_str()));
    };
    for (const std::string verb :
         {"machines", "workloads", "run vector_add:n=32 --mode emulate", "--help"})
        EXPECT_EQ(status(verb + " >/dev/full 2>&1"), 2) << verb;
    // Whoever closes the stream wants none of it; nothing else may end in files then.
    const std::string stats = path("closed.json");
    EXPECT_EQ(status("run vector_add:n=32 --mode emulate --stats " + stats + " >&-"), 0);
    EXPECT_EQ(nlohmann::json::parse(read(stats))["steps"].size(), 1u);
}

TEST_F(Cli, FaultsEndWithStatus3) {
    const Result result = lockstep("run " + cubin + " --mode emulate --block 256 --grid 4" +
                                   " --arg zeros:4000 --arg zeros:4000 --arg zeros:16 --arg 1000");
    EXPECT_EQ(result.status, 3);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("illegal address"), HasSubstr("kernel       vector_add"),
                      HasSubstr("CTA          (0,0,0)"), HasSubstr("thread       (4,0,0)"),
                      HasSubstr("16-byte allocation")));
}

TEST_F(Cli, ChecksAProgram) {
    const std::string faults = source_path("tests/models/gpu/data/faults_sm_90.cubin");
    const std::string one_kernel =
        "run " + faults + " --mode emulate --block 64 --arg zeros:4096 --arg 0";
    const Result race = lockstep(one_kernel + " --kernel read_after_write --check race");
    EXPECT_EQ(race.status, 3);
    EXPECT_THAT(race.output, AllOf(HasSubstr("race: read after write in shared memory"),
                                   HasSubstr("faults.cu:")));
    EXPECT_EQ(lockstep(one_kernel + " --kernel read_after_write").status, 0);
    EXPECT_EQ(lockstep(one_kernel + " --kernel read_after_write --check sync").status, 0);
    const Result init = lockstep(one_kernel + " --kernel unwritten_shared --check init,sync");
    EXPECT_EQ(init.status, 3);
    EXPECT_THAT(init.output, HasSubstr("init: shared memory is read and was never written"));
    EXPECT_EQ(lockstep("run --mode emulate --check race,init,sync vector_add:n=1000").status, 0);
}

TEST_F(Cli, RefusesChecksThatDoNotExist) {
    const Result unknown = lockstep("run --mode emulate --check race,leak vector_add");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.output,
                HasSubstr("--check race,leak: 'leak' is none of the checks race, init, sync"));
    const Result cycle = lockstep("run --check race vector_add");
    EXPECT_EQ(cycle.status, 2);
    EXPECT_THAT(cycle.output, HasSubstr("--check needs --mode emulate"));
    EXPECT_EQ(lockstep("run --on tpu_v1 --check race gemm").status, 2);
}

TEST_F(Cli, DisassemblesACubin) {
    const Result result = lockstep("disasm " + cubin + " --kernel vector_add");
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, AllOf(HasSubstr("S2R"), HasSubstr("EXIT")));
}

TEST_F(Cli, HandsAProgramItsNameAndArgumentsUntouched) {
    const std::string program = write("show it", "");
    fs::copy_file("/usr/bin/printf", program, fs::copy_options::overwrite_existing);
    const Result result =
        lockstep("run '" + program + "' --mode emulate -- '<%s>' '[1,2]' '' -- --threads 'a b'");
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output, "<[1,2]><><--><--threads><a b>");
    EXPECT_THAT(lockstep("run '" + program + "' --mode emulate").output,
                HasSubstr(program + ": missing operand"));
}

TEST_F(Cli, StatisticsThatCannotBeWrittenStopARunBeforeItStarts) {
    const Result result =
        lockstep("run vector_add --mode emulate --stats " + path("no/such/folder.json"));
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, testing::Not(HasSubstr("warp-instructions")));
}

TEST_F(Cli, ThreadsDoNotChangeResults) {
    const std::string common = "run softmax:rows=64,cols=300 --mode emulate --quiet --stats ";
    ASSERT_EQ(lockstep(common + path("one.json")).status, 0);
    ASSERT_EQ(lockstep(common + path("three.json") + " --threads 3").status, 0);
    const auto one = nlohmann::json::parse(read(path("one.json")));
    const auto three = nlohmann::json::parse(read(path("three.json")));
    EXPECT_EQ(one["steps"], three["steps"]);
}

}  // namespace
}  // namespace lockstep::cli
