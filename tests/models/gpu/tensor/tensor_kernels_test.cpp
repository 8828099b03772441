// SPDX-License-Identifier: Apache-2.0
// Whole kernels that nvcc compiled from wmma and mma.sync, on the emulator: D = A * B + C for small
// integers, where every format and every order of addition is exact.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <random>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp8.h"
#include "sim/numerics/packed_int.h"
#include "tests/isa/sass/tensor_core/xz.h"
#include "tests/paths.h"

namespace lockstep {
namespace {

enum class Type { kFp16, kBf16, kFp32, kFp64, kInt8, kInt4, kE4m3, kInt32 };

unsigned bits_of(Type type) {
    switch (type) {
        case Type::kFp64:
            return 64;
        case Type::kFp32:
        case Type::kInt32:
            return 32;
        case Type::kFp16:
        case Type::kBf16:
            return 16;
        case Type::kInt8:
        case Type::kE4m3:
            return 8;
        case Type::kInt4:
            return 4;
    }
    return 0;
}

std::uint64_t encode(Type type, int value) {
    const float real = static_cast<float>(value);
    switch (type) {
        case Type::kFp16:
            return numerics::fp32_to_fp16(real);
        case Type::kBf16:
            return numerics::fp32_to_bf16(real);
        case Type::kFp32:
            return std::bit_cast<std::uint32_t>(real);
        case Type::kFp64:
            return std::bit_cast<std::uint64_t>(double{real});
        case Type::kE4m3:
            return numerics::fp32_to_e4m3(real, false);
        case Type::kInt8:
        case Type::kInt4:
        case Type::kInt32:
            return static_cast<std::uint32_t>(value);
    }
    return 0;
}

struct Kernel {
    const char* name;
    Type type, accumulator;
    int m, n;  // of a tile
    bool a_by_rows, b_by_rows;
    int first_sm = 70;
    bool is_signed = true;
};

const Kernel kKernels[] = {
    {"wmma_f16_f32_rr", Type::kFp16, Type::kFp32, 16, 16, true, true},
    {"wmma_f16_f32_rc", Type::kFp16, Type::kFp32, 16, 16, true, false},
    {"wmma_f16_f32_cr", Type::kFp16, Type::kFp32, 16, 16, false, true},
    {"wmma_f16_f32_cc", Type::kFp16, Type::kFp32, 16, 16, false, false},
    {"wmma_f16_f16_rr", Type::kFp16, Type::kFp16, 16, 16, true, true},
    {"wmma_f16_f16_rc", Type::kFp16, Type::kFp16, 16, 16, true, false},
    {"wmma_f16_f32_32x8", Type::kFp16, Type::kFp32, 32, 8, true, false},
    {"wmma_f16_f32_8x32", Type::kFp16, Type::kFp32, 8, 32, true, false},
    {"wmma_s8_rc", Type::kInt8, Type::kInt32, 16, 16, true, false, 75},
    {"wmma_u8_rr", Type::kInt8, Type::kInt32, 16, 16, true, true, 75, false},
    {"wmma_s8_cc_32x8", Type::kInt8, Type::kInt32, 32, 8, false, false, 75},
    {"wmma_bf16_rc", Type::kBf16, Type::kFp32, 16, 16, true, false, 80},
    {"wmma_bf16_cr", Type::kBf16, Type::kFp32, 16, 16, false, true, 80},
    {"wmma_tf32_rc", Type::kFp32, Type::kFp32, 16, 16, true, false, 80},
    {"wmma_tf32_cr", Type::kFp32, Type::kFp32, 16, 16, false, true, 80},
    {"wmma_f64_rc", Type::kFp64, Type::kFp64, 8, 8, true, false, 80},
    {"wmma_f64_cr", Type::kFp64, Type::kFp64, 8, 8, false, true, 80},
    {"ldmatrix_m16n8k16", Type::kFp16, Type::kFp32, 16, 8, true, true, 80},
    {"mma_s4", Type::kInt4, Type::kInt32, 16, 8, true, false, 80},
    {"mma_e4m3", Type::kE4m3, Type::kFp32, 16, 8, true, false, 89},
};

struct Gpu {
    int sm;
    const char* machine;
};

class TensorKernels : public testing::TestWithParam<Gpu> {
  protected:
    // A matrix in device memory; at(row, column) is by the matrix, whatever its layout.
    struct Matrix {
        Type type;
        int rows, columns;
        bool by_rows;
        DevicePointer address;
        std::vector<int> values;

        std::size_t place(int row, int column) const {
            return static_cast<std::size_t>(by_rows ? row * columns + column : column * rows + row);
        }
        void store(int row, int column, int value) {
            const std::size_t bit = place(row, column) * bits_of(type);
            auto* byte = reinterpret_cast<unsigned char*>(address) + bit / 8;
            values[static_cast<std::size_t>(row * columns + column)] = value;
            const std::uint64_t encoded = encode(type, value);
            if (type == Type::kInt4) {
                *byte = static_cast<unsigned char>(
                    numerics::pack<4>(*byte, static_cast<int>(bit / 4 % 2), value));
            } else {
                std::memcpy(byte, &encoded, bits_of(type) / 8);
            }
        }
        int at(int row, int column) const {
            return values[static_cast<std::size_t>(row * columns + column)];
        }
        std::uint64_t load(int row, int column) const {
            std::uint64_t result = 0;
            std::memcpy(&result,
                        reinterpret_cast<const unsigned char*>(address) +
                            place(row, column) * bits_of(type) / 8,
                        bits_of(type) / 8);
            return result;
        }
    };

    Matrix make(Device& device, Type type, int rows, int columns, bool by_rows, int low, int high) {
        Matrix matrix{type,
                      rows,
                      columns,
                      by_rows,
                      device.allocate(static_cast<std::uint64_t>(rows * columns * 8)),
                      std::vector<int>(static_cast<std::size_t>(rows * columns))};
        std::uniform_int_distribution<int> value(low, high);
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < columns; ++column)
                matrix.store(row, column, value(random_));
        return matrix;
    }

    void run(Device& device, ModuleHandle module, const Kernel& kernel) {
        constexpr int kM = 64, kN = 32, kK = 128;
        const bool wide = kernel.type == Type::kInt8;
        const int low = !kernel.is_signed ? 0 : (wide ? -128 : -2);
        const int high = !kernel.is_signed ? 127 : (wide ? 127 : 2);
        Matrix a = make(device, kernel.type, kM, kK, kernel.a_by_rows, low, high);
        Matrix b = make(device, kernel.type, kK, kN, kernel.b_by_rows, low, high);
        Matrix c = make(device, kernel.accumulator, kM, kN, true, -100, 100);
        Matrix d = make(device, kernel.accumulator, kM, kN, true, 0, 0);
        const struct {
            DevicePointer d, a, b, c;
            int m, n, k;
        } arguments{d.address, a.address, b.address, c.address, kM, kN, kK};
        LaunchRequest request;
        request.module = module;
        request.kernel = kernel.name;
        request.grid = {static_cast<unsigned>(kN / kernel.n), static_cast<unsigned>(kM / kernel.m),
                        1};
        request.block = {32, 1, 1};
        request.parameters = {reinterpret_cast<const std::byte*>(&arguments), 44};
        device.launch(request);
        for (int row = 0; row < kM; ++row)
            for (int column = 0; column < kN; ++column) {
                int sum = c.at(row, column);
                for (int k = 0; k < kK; ++k) sum += a.at(row, k) * b.at(k, column);
                ASSERT_EQ(d.load(row, column), encode(kernel.accumulator, sum))
                    << kernel.name << " row " << row << " column " << column;
            }
        for (const Matrix* matrix : {&a, &b, &c, &d}) device.free(matrix->address);
    }

    std::mt19937 random_{17};
};

TEST_P(TensorKernels, MultiplyMatrices) {
    const Gpu& gpu = GetParam();
    const std::unique_ptr<Device> device =
        make_emulator(config::Machine::load(gpu.machine), DeviceOptions{});
    const std::string file = source_path("tests/models/gpu/tensor/cubin/kernels.sm_") +
                             std::to_string(gpu.sm) + ".cubin.xz";
    const std::string bytes = read_xz(file);
    const ModuleHandle module = device->load_module(
        cubin::parse({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, file));
    for (const Kernel& kernel : kKernels) {
        if (kernel.first_sm > gpu.sm) continue;
        SCOPED_TRACE(kernel.name);
        try {
            run(*device, module, kernel);
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Generations, TensorKernels,
                         testing::Values(Gpu{70, "v100"}, Gpu{75, "t4"}, Gpu{80, "a100"},
                                         Gpu{89, "rtx4090"}, Gpu{90, "h200"}),
                         [](const auto& gpu) { return "sm_" + std::to_string(gpu.param.sm); });

}  // namespace
}  // namespace lockstep
