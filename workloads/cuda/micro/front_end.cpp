// SPDX-License-Identifier: Apache-2.0
// Launches, instruction fetch, branches and register banks (micro_front_end.cu).
#include <cmath>

#include "sim/error/error.h"
#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {
namespace {

const char* const kFile = "micro_front_end";

// An empty kernel of one CTA, and what each further one costs.
void launch(Run& run) {
    const auto ctas = static_cast<unsigned>(run["ctas"]);
    const auto block = 32u * static_cast<unsigned>(run["warps"]);
    run.launch({kFile, "empty"}, {1}, {block}, 0, Arguments());
    const LaunchResult one = run.last_launch();
    run.launch({kFile, "empty"}, {ctas}, {block}, 0, Arguments());
    const LaunchResult many = run.last_launch();
    run.measure("one CTA", static_cast<double>(one.cycles), "cycles");
    run.measure("launch", one.seconds * 1e6, "us");
    if (ctas > 1)
        run.measure("each CTA", double(many.cycles - one.cycles) / (ctas - 1), "cycles/CTA");
}

void code_walk(Run& run) {
    const int kib = run["kib"], rounds = run["rounds"];
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto floats = run.zeros<float>(16);
    const auto words = run.zeros<std::uint32_t>(16);
    for (int i = 0; i < 8; ++i) {
        floats.view()[i] = static_cast<float>(i);
        words.view()[i] = static_cast<std::uint32_t>(i);
    }
    floats.view()[8] = 1;
    words.view()[8] = 0x80000000u;  // shifts a 1 in, each step
    words.view()[9] = 1;
    run.launch({kFile, "code_walk"}, {1}, {32}, 0, Arguments(cycles, floats, words, kib, rounds));
    run.measure("interval", static_cast<double>(cycles.view()[0]) / (64.0 * kib),
                "cycles/instruction");
    run.check_values<float>("floats", floats.part(0, 8),
                            [&](int i) { return static_cast<float>(i + 4 * kib * rounds); });
}

// What a taken branch costs: a loop of eight dependent additions against the same additions in a
// row.
void branch(Run& run) {
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto values = run.zeros<float>(2);
    values.view()[1] = 1;
    const auto per_eight = [&](const char* kernel, int few, int many, int eights) {
        std::array<double, 2> time{};
        for (const int iterations : {few, many}) {
            run.launch({kFile, kernel}, {1}, {1}, 0, Arguments(cycles, values, iterations));
            time[iterations == many] = loop_time(cycles, 1);
        }
        return (time[1] - time[0]) / ((many - few) * eights);
    };
    const double loop = per_eight("loop_taken", 32, 160, 1);
    // 16 eights an iteration, whose one branch counts too: solve for what an eight takes alone.
    const double unrolled = per_eight("loop_unrolled", 2, 10, 16);
    const double eight = (16 * unrolled - loop) / 15;
    run.measure("loop of eight FADD", loop, "cycles");
    run.measure("eight FADD", eight, "cycles");
    run.measure("taken branch", loop - eight, "cycles");
    run.check_values<float>("sum", values.part(0, 1), [](int) {
        return static_cast<float>(2 * 8 * (32 + 160) + 2 * 128 * (2 + 10));
    });
}

// FFMA whose three sources are in one register bank, or two of them. The compiler breaks some of
// the former up (10 of 16 stay, all on 8.0), which the expected interval allows for.
void banks(Run& run, const char* kernel) {
    const int warps = run["warps"];
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const auto values = run.zeros<float>(48);
    for (int i = 0; i < 48; ++i) values.view()[i] = 0.125f;
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        for (int i = 0; i < 48; ++i) values.view()[i] = 0.125f;
        run.launch({kFile, kernel}, {1}, {32u * static_cast<unsigned>(warps)}, 0,
                   Arguments(cycles, values, iterations));
    });
    run.measure("interval", 4 * time / (48.0 * warps), "cycles/instruction/sub-core");
    const bool same = std::string_view(kernel) == "banks_same";
    std::vector<float> v(48, 0.125f);
    for (int i = 0; i < 2 * kManyIterations * 48; ++i) {
        float& x = v[i % 12 * 4];
        x = std::fma(x, v[(i + 1) % 12 * 4], v[(i + 2) % 12 * 4 + (same ? 2 : 1)]);
    }
    run.check_values<float>("values", values, [&](int i) { return v[i]; });
}

}  // namespace

std::vector<Workload> front_end_workloads() {
    return {
        {"micro_launch",
         "an empty kernel",
         {{"ctas", 1320, 1, 1 << 20, "CTAs of the larger launch"}, warps_parameter(1)},
         launch},
        {"micro_code_walk",
         "instruction fetch: straight-line code of growing size, walked again and again",
         {{"kib", 16, 1, 160, "KiB of code"}, {"rounds", 3, 1, 100, "walks; the last is timed"}},
         code_walk},
        {"micro_branch", "what a taken branch costs a warp", {}, branch},
        {"micro_banks_same",
         "FFMA with three sources in one register bank",
         {warps_parameter(16)},
         [](Run& run) { banks(run, "banks_same"); }},
        {"micro_banks_two",
         "FFMA with two sources in one register bank",
         {warps_parameter(16)},
         [](Run& run) { banks(run, "banks_two"); }},
    };
}

}  // namespace lockstep::cuda::micro
