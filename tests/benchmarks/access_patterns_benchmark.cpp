// SPDX-License-Identifier: Apache-2.0
// Warp-instructions per CPU second of an H200, emulated and in cycles, on what is hard for a model:
// many launches of little work, many small CTAs, several arrays in one loop, little but memory
// accesses, and subnormal numbers.
#include <benchmark/benchmark.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/config/machine.h"
#include "sim/engine/host_memory.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

/// Kernels of access_patterns.cu on a device.
class Kernels {
  public:
    explicit Kernels(std::unique_ptr<Device> device) : device_(std::move(device)) {
        const std::string path = source_path("tests/benchmarks/data/access_patterns_sm_90.cubin");
        std::ifstream file(path, std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
        module_ = device_->load_module(cubin::parse(bytes, path));
    }

    /// Device memory for `count` numbers, all of them `value`.
    template <typename T>
    T* array(std::size_t count, T value) {
        auto* const numbers = reinterpret_cast<T*>(device_->allocate(count * sizeof(T)));
        std::fill_n(numbers, count, value);
        return numbers;
    }

    template <typename... Parameters>
    void launch(const std::string& kernel, sass::Dim3 grid, sass::Dim3 block,
                Parameters... parameters) {
        std::vector<std::byte> packed;
        (pack(packed, parameters), ...);
        instructions_ += device_
                             ->launch({.module = module_,
                                       .kernel = kernel,
                                       .grid = grid,
                                       .block = block,
                                       .parameters = packed})
                             .warp_instructions;
    }

    std::uint64_t instructions() const { return instructions_; }

  private:
    template <typename T>
    static void pack(std::vector<std::byte>& packed, T value) {
        packed.resize((packed.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
        std::memcpy(packed.data() + packed.size() - sizeof(T), &value, sizeof(T));
    }

    std::unique_ptr<Device> device_;
    ModuleHandle module_ = 0;
    std::uint64_t instructions_ = 0;
};

void untiled_product(Kernels& k) {
    constexpr unsigned n = 256;
    auto *a = k.array(n * n, 1.f), *b = k.array(n * n, 2.f), *c = k.array(n * n, 0.f);
    k.launch("untiled_product", {n / 32, n / 8}, {32, 8}, int{n}, a, b, c);
}

void elimination(Kernels& k) {
    constexpr unsigned n = 512;
    auto *a = k.array(n * n, 1.f), *factors = k.array(n, .5f);
    for (int step = 0; step < 4; ++step)
        k.launch("eliminate", {n / 4, n / 4}, {4, 4}, int{n}, step, factors, a);
}

void sweep(Kernels& k) {
    constexpr unsigned n = 1024;
    auto *a = k.array(n * n, 1.f), *b = k.array(n * n, 2.f), *x = k.array(n * n, 3.f);
    for (int row = 1; row < 500; ++row)
        k.launch("sweep_row", {n / 256}, {256}, int{n}, row, a, b, x);
}

void orthogonalisation(Kernels& k) {
    constexpr unsigned n = 512;
    auto *q = k.array(n * n, .01f), *a = k.array(n * n, 1.f);
    for (int step = 0; step < 4; ++step)
        k.launch("orthogonalise", {n / 256}, {256}, int{n}, step, q, a);
}

void dynamic_programming(Kernels& k) {
    constexpr unsigned tiles = 32, columns = tiles * 16 + 1;
    auto *scores = k.array(columns * columns, 3), *table = k.array(columns * columns, 0);
    k.launch("diagonal_tiles", {tiles, tiles}, {16}, int{columns}, scores, table);
}

void addition(Kernels& k) {
    constexpr unsigned n = 1 << 21;
    auto *a = k.array(n, 1.f), *b = k.array(n, 2.f), *c = k.array(n, 0.f);
    k.launch("add", {n / 256}, {256}, a, b, c);
}

template <typename T>
void decay(Kernels& k, const char* kernel, T value) {
    constexpr unsigned ctas = 32, threads = 256;
    auto* a = k.array(ctas * threads, value);
    k.launch(kernel, {ctas}, {threads}, 2000, a);
}

struct Pattern {
    const char* name;
    std::function<void(Kernels&)> run;
    bool in_cycles = true;
};

const Pattern kPatterns[] = {
    {"untiled_product", untiled_product},
    {"elimination", elimination},
    {"sweep", sweep},
    {"orthogonalisation", orthogonalisation},
    {"dynamic_programming", dynamic_programming},
    {"addition", addition},
    {"fp32/normal", [](Kernels& k) { decay(k, "decay32", 1.f); }, false},
    {"fp32/subnormal", [](Kernels& k) { decay(k, "decay32", 1e-39f); }, false},
    {"fp64/normal", [](Kernels& k) { decay(k, "decay64", 1.); }, false},
    {"fp64/subnormal", [](Kernels& k) { decay(k, "decay64", 1e-310); }, false},
};

void add(const std::string& mode, const Pattern& pattern,
         const std::function<std::unique_ptr<Device>()>& make) {
    benchmark::RegisterBenchmark((mode + "/" + pattern.name).c_str(), [=](benchmark::State& state) {
        std::uint64_t instructions = 0;
        for (auto _ : state) {
            Kernels kernels(make());
            pattern.run(kernels);
            instructions += kernels.instructions();
        }
        state.counters["warp-instructions"] =
            benchmark::Counter(static_cast<double>(instructions), benchmark::Counter::kIsRate);
    })->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
    using namespace lockstep;
    engine::prepare_host_memory();  // as the program does
    const auto machine = config::Machine::load("h200");
    for (const Pattern& pattern : kPatterns) {
        add("emulated", pattern, [machine] { return make_emulator(machine, {}); });
        if (pattern.in_cycles)
            add("cycles", pattern, [machine] { return make_simulator(machine, {}); });
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
}
