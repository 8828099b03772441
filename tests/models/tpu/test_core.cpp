// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "isa/tpu/builder.h"
#include "models/tpu/tpu.h"
#include "sim/config/machine.h"
#include "sim/engine/simulation.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

using testing::HasSubstr;
using enum Field;

Parameters machine(const std::string& name, const std::vector<std::string>& overrides = {}) {
    return Parameters(*config::Machine::load(name, overrides));
}

std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(count);
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

/// A fully connected layer of int8: batch x (256 * k_tiles) by 256 * n_tiles, for a core of v1.
Program fully_connected(std::uint64_t batch, std::uint64_t k_tiles, std::uint64_t n_tiles) {
    ProgramBuilder builder(1);
    const std::uint64_t k = 256 * k_tiles, n = 256 * n_tiles;
    const auto input = builder.add_buffer(
        {"input", Space::kHost, Role::kInput, DataType::kInt8, {batch, k}, batch * k});
    const auto output = builder.add_buffer(
        {"output", Space::kHost, Role::kOutput, DataType::kInt8, {batch, n}, batch * n});
    const auto weights = builder.add_buffer(
        {"weights", Space::kMemory, Role::kConstant, DataType::kInt8, {}, k * n});
    builder.add_data(weights, 0, random_bytes(k * n, 1));
    const std::uint64_t to = batch * k;
    builder.begin_step("fc", batch * k * n);
    builder.emit(Opcode::kReadHost,
                 {{kHost, builder.address(input)}, {kRows, 1}, {kRowBytes, batch * k}});
    for (std::uint64_t j = 0; j < n_tiles; ++j) {
        const std::uint64_t accumulator = j % 2 * batch;
        for (std::uint64_t i = 0; i < k_tiles; ++i) {
            builder.emit(Opcode::kReadWeights,
                         {{kAddress, builder.address(weights) + (j * k_tiles + i) * 65536},
                          {kPitch, 256},
                          {kLanes, 256},
                          {kColumns, 256}});
            builder.emit(Opcode::kMatrixMultiply, {{kSource, 256 * i},
                                                   {kPitch, k},
                                                   {kRows, batch},
                                                   {kLanes, 256},
                                                   {kColumns, 256},
                                                   {kAccumulator, accumulator},
                                                   {kAccumulate, i != 0},
                                                   {kSwitchWeights, true}});
        }
        builder.emit(Opcode::kActivate, {{kAccumulator, accumulator},
                                         {kAccumulatorType, DataType::kInt32},
                                         {kRows, batch},
                                         {kColumns, 256},
                                         {kDestination, to + 256 * j},
                                         {kPitch, n},
                                         {kFunction, Function::kRelu},
                                         {kScale, 0.001f},
                                         {kOutScale, 1.0f}});
    }
    builder.begin_step("out");
    builder.emit(
        Opcode::kWriteHost,
        {{kSource, to}, {kHost, builder.address(output)}, {kRows, 1}, {kRowBytes, batch * n}});
    return builder.finish();
}

TEST(TpuCore, ComputesWhatTheInstructionsSay) {
    const Program program = fully_connected(20, 2, 3);
    Storage storage(program, true), in_order(program, true);
    const auto input = random_bytes(20 * 512, 2);
    for (Storage* each : {&storage, &in_order})
        std::copy(input.begin(), input.end(), each->contents(0).begin());
    const RunResult result = run(program, machine("tpu_v1"), storage);
    State state(machine("tpu_v1").limits(), in_order);
    for (const Instruction& instruction : program.instructions) execute(instruction, state);
    EXPECT_TRUE(std::ranges::equal(storage.contents(1), in_order.contents(1)));
    // And by the definition.
    const auto weights = random_bytes(512 * 768, 1);
    for (const std::size_t row : {0, 7, 19})
        for (std::size_t column = 0; column < 768; ++column) {
            int sum = 0;
            for (std::size_t k = 0; k < 512; ++k) {
                const std::size_t tile = column / 256 * 2 + k / 256;
                sum +=
                    static_cast<std::int8_t>(input[row * 512 + k]) *
                    static_cast<std::int8_t>(weights[tile * 65536 + k % 256 * 256 + column % 256]);
            }
            const float real = std::max(0.0f, static_cast<float>(sum) * 0.001f);
            const int expected = static_cast<int>(std::min(127.0f, std::nearbyint(real)));
            ASSERT_EQ(static_cast<std::int8_t>(storage.contents(1)[row * 768 + column]), expected);
        }
    EXPECT_EQ(result.total().macs, 20u * 512 * 768);
    EXPECT_EQ(result.total().weight_tiles, 6u);
}

TEST(TpuCore, ValuesAndThreadsDoNotChangeTime) {
    const Program program = fully_connected(50, 3, 2);
    Storage with(program, true), without(program, false);
    const RunResult a = run(program, machine("tpu_v1"), with);
    const RunResult b = run(program, machine("tpu_v1"), without, {.values = false, .threads = 2});
    EXPECT_EQ(a.cycles, b.cycles);
    EXPECT_EQ(a.steps[0].weight_stall, b.steps[0].weight_stall);
}

TEST(TpuCore, BanksOfTheUnifiedBufferHoldUnitsUp) {
    // Rows of 2048 bytes: a pass reads one line of each, in 2 of 16 banks.
    const Program program = fully_connected(1800, 8, 8);
    Storage storage(program, false);
    const auto time = [&](const std::vector<std::string>& overrides) {
        return run(program, machine("tpu_v1", overrides), storage, {.values = false}).total();
    };
    const StepResult free = time({"unified_buffer.ports=64"}), banked = time({}),
                     single = time({"unified_buffer.banks=1"});
    EXPECT_EQ(free.bank_stall + free.vector_bank_stall + free.dma_bank_stall, 0u);
    EXPECT_EQ(free.buffer_accesses, banked.buffer_accesses);
    // Read by the host link, written by it; each row by 16 tiles of columns; results once.
    EXPECT_EQ(free.buffer_accesses, 1800u * 8 * (1 + 8 + 1 + 1));
    EXPECT_GT(single.bank_stall, 0u);
    EXPECT_GT(single.vector_bank_stall, 0u);
    EXPECT_LE(free.cycles, banked.cycles);
    EXPECT_LE(banked.cycles, single.cycles);
    EXPECT_EQ(single.active, free.active);
    EXPECT_GE(single.non_matrix, single.bank_stall);
}

TEST(TpuCore, StatesOfTheArrayAddUpInEveryStep) {
    const Program program = fully_connected(200, 4, 4);
    Storage storage(program, false);
    const RunResult result = run(program, machine("tpu_v1"), storage, {.values = false});
    std::uint64_t cycles = 0;
    for (const StepResult& step : result.steps) {
        EXPECT_EQ(step.active + step.weight_stall + step.weight_shift + step.non_matrix,
                  step.cycles)
            << step.name;
        cycles += step.cycles;
    }
    EXPECT_EQ(cycles, result.cycles);
    EXPECT_EQ(result.total().active, 200u * 16);
}

TEST(TpuCore, WhatWasNotIssuedYetIsNoWeightStall) {
    const Program program = assemble(
        ".buffer in host input int8 1048576 0\n.buffer w memory constant int8 65536 0\n"
        "read_host rows=1, row_bytes=1048576\nsync wait_load=1\n"
        "read_weights lanes=256, columns=256, pitch=256\n"
        "matrix_multiply pitch=256, rows=100, lanes=256, columns=256, switch_weights=1\nhalt\n",
        "p");
    Storage storage(program, false);
    const StepResult step =
        run(program, machine("tpu_v1"), storage, {.values = false}).steps.front();
    // 1 MiB at 10 GiB/s are 68,359 cycles; a tile takes about 1,500 with its latency.
    EXPECT_GT(step.non_matrix, 68359u);
    EXPECT_GT(step.weight_stall, 1349u);
    EXPECT_LT(step.weight_stall, 1600u);
    EXPECT_EQ(step.weight_shift, 256u);
}

TEST(TpuCore, AWeightBoundTileTakesItsTimeFromMemory) {
    // Jouppi et al.: 64 KiB at 34 GB/s are 1349 cycles; the DDR3 controller sustains a little less.
    const auto cycles = [](std::uint64_t tiles) {
        const Program program = fully_connected(200, tiles, 1);
        Storage storage(program, false);
        return run(program, machine("tpu_v1"), storage, {.values = false}).total();
    };
    const StepResult few = cycles(20), many = cycles(30);
    const double period = double(many.cycles - few.cycles) / 10;
    // The input grows, too, but arrives before the first product.
    const double input = 200.0 * 256 / (10 * 1.073741824) * 0.7;
    EXPECT_GT(period - input, 1349);
    EXPECT_LT(period - input, 1349 * 1.1);
    EXPECT_NEAR(double(many.weight_shift - few.weight_shift), 2560, 30);
    EXPECT_EQ(many.active - few.active, 2000u);
}

TEST(TpuCore, ChainsOfTilesTakeTheClosedForm) {
    // Weights from the unified buffer are always there: the array's own timing remains.
    const Parameters parameters = machine("tpu_v3", {"sequencer.issue_interval=1"});
    const auto cycles = [&](std::uint64_t rows, int tiles) {
        ProgramBuilder builder(3);
        for (int i = 0; i < tiles; ++i) {
            builder.emit(Opcode::kReadWeights, {{kFrom, WeightSource::kUnifiedBuffer},
                                                {kAddress, 1 << 20},
                                                {kPitch, 256},
                                                {kLanes, 128},
                                                {kColumns, 128},
                                                {kWeightType, DataType::kBf16}});
            builder.emit(Opcode::kMatrixMultiply, {{kPitch, 256},
                                                   {kRows, rows},
                                                   {kLanes, 128},
                                                   {kColumns, 128},
                                                   {kType, DataType::kBf16},
                                                   {kWeightType, DataType::kBf16},
                                                   {kSwitchWeights, true},
                                                   {kAccumulate, i != 0}});
        }
        const Program program = builder.finish();
        Storage storage(program, false);
        return run(program, parameters, storage, {.values = false}).cycles;
    };
    for (const std::uint64_t rows : {1, 64, 128, 200, 1000})
        for (const int tiles : {1, 2, 7}) {
            const auto closed = static_cast<std::uint64_t>(total_cycles(
                parameters.array, Overlap::kDouble, static_cast<std::int64_t>(rows), tiles));
            // The first tile arrives in the second cycle.
            EXPECT_EQ(cycles(rows, tiles), closed + 1) << rows << " rows, " << tiles << " tiles";
        }
}

/// A tile of weights from the unified buffer, and 400 rows that meet it.
void emit_product(ProgramBuilder& builder, int unit, int accumulator, bool accumulate) {
    builder.emit(Opcode::kReadWeights, {{kUnit, unit},
                                        {kFrom, WeightSource::kUnifiedBuffer},
                                        {kAddress, 1 << 20},
                                        {kPitch, 256},
                                        {kLanes, 128},
                                        {kColumns, 128},
                                        {kWeightType, DataType::kBf16}});
    builder.emit(Opcode::kMatrixMultiply, {{kUnit, unit},
                                           {kPitch, 256},
                                           {kRows, 400},
                                           {kLanes, 128},
                                           {kColumns, 128},
                                           {kType, DataType::kBf16},
                                           {kWeightType, DataType::kBf16},
                                           {kSwitchWeights, true},
                                           {kAccumulate, accumulate},
                                           {kAccumulator, accumulator}});
}

TEST(TpuCore, TwoArraysWorkAtOnce) {
    const auto cycles = [](int units) {
        ProgramBuilder builder(3);
        for (int i = 0; i < 8; ++i) {
            const int unit = i % units;
            emit_product(builder, unit, 400 * i, false);
        }
        const Program program = builder.finish();
        Storage storage(program, false);
        return run(program, machine("tpu_v3"), storage, {.values = false}).cycles;
    };
    EXPECT_NEAR(double(cycles(1) - cycles(2)), 1600, 20);
}

TEST(TpuCore, AFullFifoHoldsUpNoOtherUnit) {
    // All tiles of one unit are named before those of the other; both work at once all the same.
    ProgramBuilder builder(3);
    for (int i = 0; i < 40; ++i) {
        const int unit = i / 20;
        emit_product(builder, unit, 400 * unit, i % 20 != 0);
    }
    const Program program = builder.finish();
    Storage storage(program, false);
    const std::uint64_t cycles = run(program, machine("tpu_v3"), storage, {.values = false}).cycles;
    EXPECT_GT(cycles, 20u * 400);
    EXPECT_LT(cycles, 20u * 400 + 1500);
}

TEST(TpuCore, FaultsNameTheInstruction) {
    const auto error = [](const std::string& text) -> std::string {
        const Program program = assemble(text, "p");
        Storage storage(program, true);
        try {
            run(program, machine("tpu_v1"), storage);
        } catch (const ProgramFault& fault) {
            return fault.what();
        }
        return "";
    };
    EXPECT_THAT(error("matrix_multiply rows=5000, lanes=1\nhalt\n"),
                HasSubstr("writes [0x0, 0x1388) of 4096 rows"));
    EXPECT_THAT(
        error(".step s\ntag\nmatrix_multiply rows=1, lanes=1, columns=1, switch_weights=1\nhalt\n"),
        HasSubstr("instruction 1 (step s): matrix_multiply"));
    EXPECT_THAT(error("read_host host=7, rows=1, row_bytes=1\nhalt\n"),
                HasSubstr("outside of every buffer"));
    EXPECT_THAT(error("matrix_multiply lanes=1, rows=8, pitch=1\nactivate accumulator_type=int32, "
                      "rows=8, columns=1, scale=1, out_scale=1\nhalt\n"),
                HasSubstr("does not wait"));
}

TEST(TpuCore, AProgramThatOverfillsTheFifoDeadlocks) {
    // Five tiles before any is used, a FIFO of four and one in the shadow registers: the sixth
    // blocks the queue, and a sync for it never ends.
    std::string text = ".buffer w memory constant int8 65536 0\n";
    for (int i = 0; i < 7; ++i) text += "read_weights lanes=1, columns=1, pitch=1\n";
    text += "sync wait_weights=1\nhalt\n";
    const Program program = assemble(text, "p");
    Storage storage(program, true);
    try {
        run(program, machine("tpu_v1"), storage);
        FAIL();
    } catch (const engine::Deadlock& fault) {
        EXPECT_THAT(fault.what(),
                    HasSubstr("the sequencer is at instruction 7 (sync wait_weights=1)"));
    }
}

TEST(TpuCore, MachinesRefuseProgramsOfLaterGenerations) {
    const Program program = assemble(".generation 3\nhalt\n", "p");
    Storage storage(program, true);
    EXPECT_THROW(run(program, machine("tpu_v2"), storage), InputError);
    EXPECT_EQ(run(program, machine("tpu_v4"), storage).instructions, 0u);
}

/// Takes a buffer in, has the host change it, takes it in again, and writes it out.
Program visit_to_the_host(std::uint64_t operations, std::uint64_t bytes) {
    ProgramBuilder builder(1);
    const auto in =
        builder.add_buffer({"in", Space::kHost, Role::kInput, DataType::kInt8, {256}, 256});
    const auto shared =
        builder.add_buffer({"shared", Space::kHost, Role::kScratch, DataType::kInt8, {256}, 256});
    const auto out =
        builder.add_buffer({"out", Space::kHost, Role::kOutput, DataType::kInt8, {256}, 256});
    const auto move = [&](Opcode opcode, std::uint32_t buffer) {
        builder.emit(opcode, {{kHost, builder.address(buffer)}, {kRows, 1}, {kRowBytes, 256}});
    };
    move(Opcode::kReadHost, in);
    move(Opcode::kWriteHost, shared);
    builder.begin_step("host");
    builder.call_host(builder.add_host_task({"negate", operations, bytes}));
    builder.begin_step("after");
    move(Opcode::kReadHost, shared);
    move(Opcode::kWriteHost, out);
    return builder.finish();
}

TEST(TpuCore, WaitsForItsHost) {
    const Program program = visit_to_the_host(264000, 25500);
    // 1 us of operations and 1 us of memory traffic, beside the interrupt.
    const Parameters parameters = machine(
        "tpu_v1", {"host.interrupt=3000", "host.compute=264", "host.memory_bandwidth=25.5"});
    Storage storage(program, true);
    for (std::size_t i = 0; i < 256; ++i) storage.contents(0)[i] = static_cast<std::uint8_t>(i);
    const auto host = [&](std::uint32_t task) {
        EXPECT_EQ(task, 0u);
        for (std::uint8_t& byte : storage.contents(1)) byte = static_cast<std::uint8_t>(-byte);
    };
    const RunResult result = run(program, parameters, storage, {.host = host});
    for (std::size_t i = 0; i < 256; ++i)
        ASSERT_EQ(storage.contents(2)[i], static_cast<std::uint8_t>(-i)) << i;
    ASSERT_EQ(result.steps.size(), 2u);
    EXPECT_EQ(result.steps[0].host_busy, 3500u);
    EXPECT_EQ(result.steps[1].host_busy, 0u);
    EXPECT_GE(result.steps[0].cycles, 3500u);
    EXPECT_THAT(result.interrupts, testing::ElementsAre(0));
    // Only time: nobody needs to do it, and it takes as long.
    Storage empty(program, false);
    EXPECT_EQ(run(program, parameters, empty, {.values = false}).cycles, result.cycles);
}

TEST(TpuCore, RefusesHostTasksThatNobodyDoes) {
    const Program program = visit_to_the_host(1, 1);
    Storage storage(program, true);
    EXPECT_THROW(run(program, machine("tpu_v1"), storage), InputError);
}

}  // namespace
}  // namespace lockstep::tpu
