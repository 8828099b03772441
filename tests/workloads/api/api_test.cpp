// SPDX-License-Identifier: Apache-2.0
// The library as programs outside see it.
#include <gmock/gmock.h>
#include <lockstep/lockstep.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>

#include "tests/paths.h"

namespace lockstep::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::SizeIs;

template <typename Work>
std::pair<int, std::string> error_of(const Work& work) {
    try {
        work();
    } catch (const Error& error) {
        return {error.status(), error.what()};
    }
    return {0, "no error"};
}

std::string cubin(const std::string& name) {
    return source_path("workloads/cuda/cubin/sm_90/" + name + ".cubin");
}

Machine small_gpu() {
    return Machine("h200", {"sm.count=8"});
}

struct Sum {
    explicit Sum(Device& on) : device(on) {
        std::iota(a.begin(), a.end(), 0.0f);
        device.write(addresses[0], a.data(), kBytes);
        device.write(addresses[1], b.data(), kBytes);
    }
    LaunchResult run() {
        const Module module = device.load(cubin("vector_add"));
        const LaunchResult result =
            device.launch(module, "vector_add", {.grid = {8}, .block = {128}},
                          {addresses[0], addresses[1], addresses[2], kN});
        device.read(c.data(), addresses[2], kBytes);
        return result;
    }
    static constexpr int kN = 1000;
    static constexpr std::size_t kBytes = kN * sizeof(float);
    Device& device;
    std::vector<float> a = std::vector<float>(kN), b = std::vector<float>(kN, 0.5f),
                       c = std::vector<float>(kN);
    const Address addresses[3] = {device.allocate(kBytes), device.allocate(kBytes),
                                  device.allocate(kBytes)};
};

TEST(Api, MachinesHaveTheirParameters) {
    EXPECT_THAT(Machine::names(), IsSupersetOf({"h200", "tpu_v1", "npu_mobile"}));
    const Machine machine("h200", {"sm.count=64"});
    EXPECT_EQ(machine.kind(), "gpu");
    EXPECT_EQ(machine.number("sm.count"), 64);
    EXPECT_EQ(machine.text("dram.standard"), "HBM3e");
    EXPECT_GT(machine.parameters().size(), 100u);
    EXPECT_EQ(Machine(source_path("models/gpu/machines/examples/mine.yaml")).name(), "mine");
}

TEST(Api, ErrorsHaveTheProgramsTextAndStatus) {
    const auto unknown = error_of([] { Machine("h20"); });
    EXPECT_EQ(unknown.first, 2);
    EXPECT_THAT(unknown.second, HasSubstr("did you mean h200?"));
    EXPECT_THAT(error_of([] { Machine("h200").number("sm.cuont"); }).second,
                HasSubstr("did you mean sm.count?"));
    EXPECT_THAT(error_of([] { Device(Machine("tpu_v1")); }).second, HasSubstr("devices are GPUs"));
    EXPECT_THAT(error_of([] { run("sgemn", Machine("h200")); }).second,
                HasSubstr("did you mean sgemm?"));
    EXPECT_THAT(error_of([] { run("mlp", Machine("tpu_v1"), {.host = true}); }).second,
                HasSubstr("--host"));
}

TEST(Api, RunsAKernel) {
    for (const Mode mode : {Mode::kCycle, Mode::kEmulate}) {
        Device device(small_gpu(), {.mode = mode});
        Sum sum(device);
        const LaunchResult result = sum.run();
        EXPECT_EQ(sum.c[999], 999.5f);
        EXPECT_EQ(result.cycles > 0, mode == Mode::kCycle);
        EXPECT_EQ(result.metrics.at("smsp__inst_executed.sum"), double(result.warp_instructions));
    }
}

TEST(Api, ADeviceCountsWhatTheProgramCounts) {
    Device device(small_gpu());
    const LaunchResult by_hand = Sum(device).run();
    device = Device(small_gpu(), {.mode = Mode::kEmulate});  // one chip at a time
    const RunResult by_run =
        run(cubin("vector_add"), small_gpu(),
            {.grid = "8",
             .block = "128",
             .kernel_arguments = {"zeros:4000", "zeros:4000", "out:4000:/dev/null", "1000"}});
    ASSERT_THAT(by_run.statistics.steps, SizeIs(1));
    EXPECT_EQ(by_run.statistics.steps[0].metrics, by_hand.metrics);
    EXPECT_EQ(by_run.statistics.cycles(), double(by_hand.cycles));
}

TEST(Api, OneChipIsSimulatedAtATime) {
    const Device device(small_gpu());
    EXPECT_THAT(error_of([] { Device second(small_gpu()); }).second, HasSubstr("one at a time"));
    EXPECT_THAT(error_of([] { run("vector_add", Machine("h200")); }).second,
                HasSubstr("one at a time"));
    const Device emulated(small_gpu(), {.mode = Mode::kEmulate});
}

TEST(Api, WrongUsesOfADeviceAreRefused) {
    Device device(small_gpu(), {.mode = Mode::kEmulate});
    const Address address = device.allocate(100);
    std::byte bytes[200] = {};
    EXPECT_THAT(error_of([&] { device.write(address, bytes, 101); }).second,
                HasSubstr("beyond the allocation"));
    EXPECT_THAT(error_of([&] { device.read(bytes, 12345, 1); }).second, HasSubstr("no allocation"));
    EXPECT_EQ(error_of([&] { device.free(address + 1); }).first, 2);
    EXPECT_EQ(error_of([&] { device.allocate(1ull << 50); }).first, 2);
    EXPECT_EQ(error_of([&] { device.load("nothing.cubin"); }).first, 2);
    EXPECT_EQ(error_of([&] { device.load(std::span<const std::byte>(bytes)); }).first, 2);
    const Module module = device.load(cubin("vector_add"));
    EXPECT_THAT(module.kernels(), ElementsAre("vector_add"));
    EXPECT_EQ(error_of([&] { module.variable("x"); }).first, 2);
    const auto launch = [&](const char* kernel, std::vector<Argument> arguments) {
        return error_of([&] { device.launch(module, kernel, {}, arguments); }).second;
    };
    EXPECT_THAT(launch("vector_ad", {}), HasSubstr("did you mean vector_add?"));
    EXPECT_THAT(launch("vector_add", {address}), HasSubstr("4 parameters, but 1"));
    EXPECT_THAT(launch("vector_add", {address, address, address, address}),
                HasSubstr("argument 4 has 8 bytes; the parameter has 4"));
    Device other(small_gpu(), {.mode = Mode::kEmulate});
    EXPECT_THAT(error_of([&] { other.launch(module, "vector_add", {}, {}); }).second,
                HasSubstr("another device's"));
}

TEST(Api, AFaultIsReportedWhole) {
    Device device(small_gpu(), {.mode = Mode::kEmulate});
    const Module module = device.load(cubin("vector_add"));
    const Address nothing = 0;
    const auto fault = error_of([&] {
        device.launch(module, "vector_add", {.grid = {1}, .block = {32}},
                      {nothing, nothing, nothing, 32});
    });
    EXPECT_EQ(fault.first, 3);
    EXPECT_THAT(fault.second, HasSubstr("vector_add"));
    EXPECT_THAT(fault.second, HasSubstr("thread       (0,0,0) of (32,1,1)"));
}

TEST(Api, RunsAnythingOnAnyMachine) {
    const RunResult gpu = run("vector_add:n=1000", small_gpu(), {.verify = true});
    EXPECT_EQ(gpu.status, 0);
    EXPECT_THAT(gpu.report, HasSubstr("verified"));
    EXPECT_GT(gpu.statistics.cycles(), 0);
    EXPECT_THAT(gpu.statistics.json, HasSubstr("\"--verify\""));
    const RunResult tpu = run("mlp", Machine("tpu_v1"), {.verify = true});
    EXPECT_EQ(tpu.status, 0);
    EXPECT_GT(tpu.statistics.steps.size(), 2u);
    EXPECT_GT(tpu.statistics.steps[1].metrics.at("macs"), 0);
    EXPECT_GT(run("gemm:m=64,n=64,k=64", Machine("systolic")).statistics.cycles(), 0);
}

Tensor images(float value) {
    Tensor tensor = network_inputs("mlp").at(0);
    const std::vector<float> values(784, value);
    const auto bytes = std::as_bytes(std::span(values));
    tensor.bytes.assign(bytes.begin(), bytes.end());
    return tensor;
}

std::vector<float> values_of(const Tensor& tensor) {
    EXPECT_EQ(tensor.type, "fp32");
    std::vector<float> values(tensor.bytes.size() / sizeof(float));
    std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
    return values;
}

TEST(Api, NetworksTakeInputsAndGiveOutputs) {
    const Tensor input = images(0.25f);
    EXPECT_EQ(input.type, "fp32");
    EXPECT_THAT(input.shape, ElementsAre(1, 784));
    const std::vector<float> host =
        values_of(run_network("mlp", Machine("host"), {input}).outputs.at(0));
    ASSERT_THAT(host, SizeIs(10));
    const std::vector<float> other =
        values_of(run_network("mlp", Machine("host"), {images(-1)}).outputs.at(0));
    EXPECT_NE(host, other);
    double largest = 0;
    for (const float value : host) largest = std::max(largest, std::abs(double(value)));
    const auto expect_near = [&](const RunResult& result, double tolerance) {
        const std::vector<float> values = values_of(result.outputs.at(0));
        ASSERT_THAT(values, SizeIs(10));
        for (std::size_t i = 0; i < values.size(); ++i)
            EXPECT_NEAR(values[i], host[i], tolerance * largest) << result.statistics.machine;
    };
    expect_near(run_network("mlp", Machine("a100"), {input}, {.mode = Mode::kEmulate}), 1e-5);
    expect_near(run_network("mlp", Machine("tpu_v3"), {input}), 0.02);
    expect_near(run_network("mlp", Machine("tpu_v1"), {input}), 0.15);  // int8
    expect_near(run_network("mlp", Machine("npu_mobile"), {input}), 0.15);
}

TEST(Api, InputsThatDoNotFitAreRefused) {
    const auto message = [](Tensor input, const char* machine) {
        return error_of([&] { run_network("mlp", Machine(machine), {input}); }).second;
    };
    Tensor input = images(1);
    input.shape = {784};
    EXPECT_THAT(message(input, "tpu_v3"), HasSubstr("its shape is [1,784], not [784]"));
    input = images(1);
    input.type = "float";
    EXPECT_THAT(message(input, "tpu_v3"), HasSubstr("no type 'float'"));
    input.type = "int64";
    EXPECT_THAT(message(input, "tpu_v3"), HasSubstr("bytes"));
    input.type = "int32";
    EXPECT_THAT(message(input, "tpu_v3"), HasSubstr("not of int32"));
    EXPECT_THAT(message(images(1), "systolic"), HasSubstr("no outputs"));
    EXPECT_THAT(error_of([] {
                    run_network("mlp", Machine("host"), {images(1), images(1)});
                }).second,
                HasSubstr("has 1 inputs, 2 are given"));
    EXPECT_THAT(error_of([] { network_inputs("vector_add"); }).second, HasSubstr("no network"));
}

TEST(Api, AnExecutableRunsInItsOwnProcess) {
    const RunResult result = run(binary_path("tests/workloads/cuda_api/runtime/runtime_program_13"),
                                 small_gpu(), {.arguments = {"run", cubin("vector_add")}});
    EXPECT_EQ(result.status, 0);
    EXPECT_GT(result.statistics.cycles(), 0);
}

}  // namespace
}  // namespace lockstep::api
