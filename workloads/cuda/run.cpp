// SPDX-License-Identifier: Apache-2.0
// Seeded inputs, launches and checks of the built-in workloads.
#include "workloads/cuda/run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sim/error/error.h"
#include "sim/numerics/fp16.h"

namespace lockstep::cuda {

Run::Run(std::string_view workload, const Parameters& parameters, std::uint64_t seed, bool verify,
         Device& device)
    : workload_(workload),
      parameters_(parameters),
      verify_(verify),
      random_(seed),
      launcher_(device) {}

int Run::operator[](std::string_view parameter) const {
    const auto found = parameters_.find(parameter);
    LOCKSTEP_CHECK(found != parameters_.end(), "workload {} has no parameter {}", workload_,
                   parameter);
    return static_cast<int>(found->second);
}

int Run::count(std::initializer_list<std::int64_t> sizes) const {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) {
        if (__builtin_mul_overflow(product, size, &product) ||
            product > std::numeric_limits<int>::max()) {
            throw InputError(fmt::format(
                "workload '{}': these sizes make an array of more than 2^31 - 1 elements",
                workload_));
        }
    }
    return static_cast<int>(product);
}

Array<float> Run::uniform(std::size_t count, float low, float high) {
    Array<float> array = launcher_.allocate<float>(count);
    for (float& x : array.view()) x = random_.uniform(low, high);
    return array;
}

Array<std::uint16_t> Run::uniform_half(std::size_t count) {
    Array<std::uint16_t> array = launcher_.allocate<std::uint16_t>(count);
    for (std::uint16_t& x : array.view()) {
        x = numerics::fp32_to_fp16(static_cast<float>(random_.integer(-64, 64)) / 64.0f);
    }
    return array;
}

void Run::launch(KernelName name, sass::Dim3 grid, sass::Dim3 block, std::uint32_t shared_bytes,
                 const Arguments& arguments) {
    const LaunchResult result = launcher_.launch(name, grid, block, shared_bytes, arguments);
    outcome_.launches.push_back({std::string(name.kernel), grid, block, result});
}

void Run::launch_over(KernelName name, int count, const Arguments& arguments) {
    const unsigned blocks = std::clamp(blocks_for(count, 256), 1u, 1024u);
    launch(name, {blocks}, {256}, 0, arguments);
}

void Run::check(std::string_view output, Array<float> got, double roundings,
                const std::function<Expected(int)>& expected) {
    if (!verify_) return;
    CheckRecord record{.output = std::string(output), .elements = got.size};
    for (std::size_t i = 0; i < got.size; ++i) {
        const Expected want = expected(static_cast<int>(i));
        const double value = got.view()[i];
        const double tolerance = roundings * 0x1p-24 * std::max(want.magnitude, 0x1p-100);
        double error = std::abs(value - want.value) / tolerance;
        if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
        if (record.message.empty() || error > record.worst) {
            record.worst = error;
            record.message = fmt::format("{}[{}] is {:.9g}, expected {:.9g}, tolerance {:.3g}",
                                         output, i, value, want.value, tolerance);
        }
    }
    record.passed = record.worst <= 1.0;
    outcome_.checks.push_back(std::move(record));
}

void Run::check_exact(std::string_view output, Array<int> got,
                      const std::function<std::int64_t(int)>& expected) {
    if (!verify_) return;
    CheckRecord record{.output = std::string(output), .passed = true, .elements = got.size};
    for (std::size_t i = 0; i < got.size && record.passed; ++i) {
        const std::int64_t want = expected(static_cast<int>(i));
        if (got.view()[i] != want) {
            record.passed = false;
            record.worst = std::numeric_limits<double>::infinity();
            record.message =
                fmt::format("{}[{}] is {}, expected exactly {}", output, i, got.view()[i], want);
        }
    }
    outcome_.checks.push_back(std::move(record));
}

void Run::check_bits(std::string_view output, Array<float> got,
                     const std::function<float(int)>& expected) {
    if (!verify_) return;
    CheckRecord record{.output = std::string(output), .passed = true, .elements = got.size};
    for (std::size_t i = 0; i < got.size && record.passed; ++i) {
        const float want = expected(static_cast<int>(i)), value = got.view()[i];
        if (std::bit_cast<std::uint32_t>(value) != std::bit_cast<std::uint32_t>(want)) {
            record.passed = false;
            record.worst = std::numeric_limits<double>::infinity();
            record.message =
                fmt::format("{}[{}] is {:.9g}, expected exactly {:.9g}", output, i, value, want);
        }
    }
    outcome_.checks.push_back(std::move(record));
}

}  // namespace lockstep::cuda
