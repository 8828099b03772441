// SPDX-License-Identifier: Apache-2.0
// What a built-in workload's body works with: its parameters, seeded inputs, launches, checks.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/cuda/launcher.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {

/// What an output element should be. The tolerance is `roundings` FP32 roundings of `magnitude`,
/// the size of what was added up to get it: |error| <= roundings * 2^-24 * magnitude.
struct Expected {
    double value = 0;
    double magnitude = 0;
};

/// A sum as the reference forms it: in double, with the magnitude of what cancelled.
struct ReferenceSum {
    double value = 0, magnitude = 0;
    void add(double term) {
        value += term;
        magnitude += term < 0 ? -term : term;
    }
    operator Expected() const { return {value, magnitude}; }
};

class Run {
  public:
    Run(std::string_view workload, const Parameters& parameters, std::uint64_t seed, bool verify,
        Device& device);

    int operator[](std::string_view parameter) const;
    /// The product of sizes; throws InputError where it does not fit the kernels' int indices.
    int count(std::initializer_list<std::int64_t> sizes) const;

    /// Inputs, and outputs (zeros).
    Array<float> uniform(std::size_t count, float low = -1.0f, float high = 1.0f);
    Array<std::uint16_t> uniform_half(std::size_t count);  ///< multiples of 1/64 in [-1, 1]
    template <class T>
    Array<T> integers(std::size_t count, int low, int high) {
        Array<T> array = launcher_.allocate<T>(count);
        for (T& x : array.view()) x = static_cast<T>(random_.integer(low, high));
        return array;
    }
    template <class T>
    Array<T> zeros(std::size_t count) {
        return launcher_.allocate<T>(count);
    }

    void launch(KernelName name, sass::Dim3 grid, sass::Dim3 block, std::uint32_t shared_bytes,
                const Arguments& arguments);
    /// As above with a grid and block that suit a grid-stride loop over `count` elements.
    void launch_over(KernelName name, int count, const Arguments& arguments);

    /// Compare outputs with the reference; no-ops without verification.
    bool verify() const { return verify_; }
    void check(std::string_view output, Array<float> got, double roundings,
               const std::function<Expected(int)>& expected);
    void check_exact(std::string_view output, Array<int> got,
                     const std::function<std::int64_t(int)>& expected);
    void check_bits(std::string_view output, Array<float> got,
                    const std::function<float(int)>& expected);

    /// As check_exact and check_bits for any type; a NaN equals any NaN. Up to `roundings` relative
    /// roundings to 24 bits apart are equal too.
    template <class T>
    void check_values(std::string_view output, Array<T> got, const std::function<T(int)>& expected,
                      double roundings = 0);

    /// What microbenchmarks measured.
    void measure(std::string name, double value, std::string unit) {
        outcome_.measurements.push_back({std::move(name), value, std::move(unit)});
    }

    /// Compute capability of the machine; the machine; what the last launch took.
    int arch() const { return static_cast<int>(machine().integer("arch")); }
    const config::Machine& machine() const { return launcher_.machine(); }
    const LaunchResult& last_launch() const { return outcome_.launches.back().result; }
    /// Whether there is such a kernel for the machine.
    bool has(KernelName name) { return launcher_.has(name); }
    /// A variable of a kernel file, in device memory.
    template <class T>
    Array<T> variable(std::string_view file, std::string_view name) {
        const auto [address, bytes] = launcher_.variable(file, name);
        return {address, bytes / sizeof(T)};
    }

    Outcome take_outcome() { return std::move(outcome_); }

  private:
    std::string workload_;
    const Parameters& parameters_;
    bool verify_;
    numerics::Random random_;
    Launcher launcher_;
    Outcome outcome_;
};

template <class T>
void Run::check_values(std::string_view output, Array<T> got, const std::function<T(int)>& expected,
                       double roundings) {
    if (!verify_) return;
    CheckRecord record{.output = std::string(output), .passed = true, .elements = got.size};
    for (std::size_t i = 0; i < got.size && record.passed; ++i) {
        const T value = got.view()[i], want = expected(static_cast<int>(i));
        bool equal = value == want || (value != value && want != want);
        if (!equal && roundings > 0) {
            const double error = std::abs(double(value) - double(want));
            equal = error <= roundings * 0x1p-24 * std::abs(double(want));
        }
        if (equal) continue;
        record.passed = false;
        record.worst = std::numeric_limits<double>::infinity();
        record.message = fmt::format("{}[{}] is {}, expected {}", output, i, value, want);
    }
    outcome_.checks.push_back(std::move(record));
}

inline unsigned blocks_for(std::int64_t count, int per_block) {
    return static_cast<unsigned>((count + per_block - 1) / per_block);
}

}  // namespace lockstep::cuda
