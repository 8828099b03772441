// SPDX-License-Identifier: Apache-2.0
// One instruction as a workload: latency of a chain (one warp), results per cycle of independent
// chains (the block's warps together), and the values that both must leave.
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "workloads/cuda/micro/micro.h"

namespace lockstep::cuda::micro {

/// A step of the kernels latency_NAME and throughput_NAME (MEASURE in micro.cuh).
template <class T>
struct Instruction {
    std::string name;     ///< the workload is micro_NAME
    std::string summary;  ///< the SASS of a step, in words
    int chained = 1;      ///< equal instructions of a step that wait for each other
    int counted = 1;      ///< instructions of a step that the throughput counts
    T a{}, b{}, c{}, d{};
    bool starts_as_lane_bit = false;          ///< lane l begins with 1 << l, not with a
    bool starts_equal = false;                ///< all begin with a itself
    T (*step)(T a, T b, T c, T d) = nullptr;  ///< what a lane's step computes
    double roundings = 0;                     ///< tolerance of the results; 0: exact
    int arch = 70;                            ///< since when there is such an instruction
};

inline constexpr int kChains = 8, kStepsAnIteration = 32;

/// Lanes and chains begin with different values.
template <class T>
T start(const Instruction<T>& instruction, int i) {
    if (instruction.starts_equal) return instruction.a;
    if constexpr (std::is_floating_point_v<T>) {
        return instruction.a * (1 + static_cast<T>(i % 64) / 128);
    } else {
        if (instruction.starts_as_lane_bit) return T{1} << i % 32;
        return static_cast<T>(instruction.a + static_cast<T>(i) * T{0x01234567});
    }
}

template <class T>
T result(const Instruction<T>& instruction, T value, int steps) {
    for (int i = 0; i < steps; ++i) {
        value = instruction.step(value, instruction.b, instruction.c, instruction.d);
    }
    return value;
}

/// `count` starting values, then b, c and d for 32 lanes.
template <class T>
Array<T> values(Run& run, const Instruction<T>& instruction, int count) {
    const Array<T> array = run.zeros<T>(count + 3 * 32);
    for (int i = 0; i < count; ++i) array.view()[i] = start(instruction, i);
    for (int i = 0; i < 32; ++i) {
        array.view()[count + i] = instruction.b;
        array.view()[count + 32 + i] = instruction.c;
        array.view()[count + 64 + i] = instruction.d;
    }
    return array;
}

template <class T>
void measure(Run& run, const std::string& file, const Instruction<T>& instruction) {
    need_arch(run, instruction.arch, instruction.summary);
    const int warps = run["warps"], threads = 32 * warps;
    const Clocks cycles = run.zeros<std::uint64_t>(64);
    const std::string latency_kernel = "latency_" + instruction.name;
    const std::string throughput_kernel = "throughput_" + instruction.name;

    const Array<T> chain = values(run, instruction, 32);
    run.launch({file, latency_kernel}, {1}, {32}, 0, Arguments(cycles, chain));
    run.measure("latency", chain_latency(cycles) / instruction.chained, "cycles");
    run.check_values<T>(
        "chain", chain.part(0, 32),
        [&](int i) { return result(instruction, start(instruction, i), kChainSteps); },
        instruction.roundings);

    const Array<T> chains = values(run, instruction, kChains * threads);
    const double time = cycles_an_iteration(run, cycles, warps, [&](int iterations) {
        run.launch({file, throughput_kernel}, {1}, {static_cast<unsigned>(threads)}, 0,
                   Arguments(cycles, chains, iterations));
    });
    const double steps = double(threads) * kChains * kStepsAnIteration;
    run.measure("throughput", steps * instruction.counted / time, "results/cycle/SM");
    // The last chain stands for the others: results are long chains on the host too.
    run.check_values<T>(
        "chains", chains.part(7 * threads, threads),
        [&](int i) {
            return result(instruction, start(instruction, 7 * threads + i),
                          kAllIterations * kStepsAnIteration);
        },
        instruction.roundings);
}

template <class T>
Workload workload(const std::string& file, const Instruction<T>& instruction) {
    return {"micro_" + instruction.name,
            "latency and throughput of " + instruction.summary,
            {warps_parameter(16)},
            [=](Run& run) { measure(run, file, instruction); }};
}

}  // namespace lockstep::cuda::micro
