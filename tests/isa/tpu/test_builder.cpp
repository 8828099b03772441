// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "isa/tpu/builder.h"
#include "isa/tpu/footprint.h"
#include "isa/tpu/loops.h"
#include "sim/error/error.h"

namespace lockstep::tpu {
namespace {

Instruction read_host(std::uint64_t to, std::uint64_t bytes) {
    return {Opcode::kReadHost,
            {{Field::kDestination, to}, {Field::kRows, 1}, {Field::kRowBytes, bytes}}};
}
Instruction write_host(std::uint64_t from, std::uint64_t host, std::uint64_t bytes) {
    return {Opcode::kWriteHost,
            {{Field::kSource, from},
             {Field::kHost, host},
             {Field::kRows, 1},
             {Field::kRowBytes, bytes}}};
}
Instruction matrix_multiply(std::uint64_t from, std::uint64_t accumulator, std::uint64_t rows,
                            bool accumulate) {
    return {Opcode::kMatrixMultiply,
            {{Field::kSource, from},
             {Field::kPitch, 256},
             {Field::kRows, rows},
             {Field::kLanes, 256},
             {Field::kColumns, 256},
             {Field::kAccumulator, accumulator},
             {Field::kAccumulate, accumulate}}};
}
Instruction activate(std::uint64_t accumulator, std::uint64_t rows, std::uint64_t to) {
    return {Opcode::kActivate,
            {{Field::kAccumulator, accumulator},
             {Field::kAccumulatorType, DataType::kInt32},
             {Field::kRows, rows},
             {Field::kColumns, 256},
             {Field::kDestination, to},
             {Field::kPitch, 256},
             {Field::kScale, 1.0f},
             {Field::kOutScale, 1.0f}}};
}

TEST(TpuBuilder, CanWaitForAWholeValueOfWhichOnlyAPartIsRead) {
    ProgramBuilder builder(1);
    builder.emit(read_host(0, 1024));     // load 1
    builder.emit(read_host(4096, 1024));  // load 2: another value
    builder.emit(activate(0, 2, 0));      // vector 1: 512 bytes
    builder.emit(activate(2, 2, 512));    // vector 2: 512 bytes
    builder.emit(activate(4, 2, 8192));   // vector 3: another value
    Instruction first = matrix_multiply(0, 100, 2, false);
    builder.wait_for_writes(first, Space::kUnifiedBuffer, 0, 1024);
    builder.emit(first);
    builder.emit(matrix_multiply(0, 102, 2, false));
    const Program program = builder.finish();
    EXPECT_EQ(program.instructions[5].wait(Queue::kVector), 2u);  // vector 2 of 3
    EXPECT_EQ(program.instructions[5].wait(Queue::kLoad), 0u);    // overwritten since
    EXPECT_EQ(program.instructions[6].wait(Queue::kVector), 3u);
}

TEST(TpuBuilder, WaitsForWhoWroteAndWhoReads) {
    ProgramBuilder builder(1);
    builder.emit(read_host(0, 1024));                 // load 1
    builder.emit(read_host(1024, 1024));              // load 2
    builder.emit(matrix_multiply(0, 0, 4, false));    // matrix 1: reads load 1
    builder.emit(matrix_multiply(1024, 0, 4, true));  // matrix 2: reads load 2
    builder.emit(activate(0, 4, 8192));               // vector 1: reads matrix 2
    builder.emit(matrix_multiply(0, 2, 4, false));    // matrix 3: overwrites what vector 1 reads
    builder.emit(read_host(0, 16));                   // load 3: overwrites what matrix 3 reads
    builder.emit(write_host(8192, 1 << 20, 1024));    // store 1: reads vector 1
    const Program program = builder.finish();
    const auto wait = [&](std::size_t i, Queue queue) {
        return int{program.instructions[i].wait(queue)};
    };
    EXPECT_EQ(wait(2, Queue::kLoad), 2);
    EXPECT_EQ(wait(3, Queue::kLoad), 1);
    EXPECT_EQ(wait(3, Queue::kMatrix0), 0);
    EXPECT_EQ(wait(4, Queue::kMatrix0), 1);
    EXPECT_EQ(wait(5, Queue::kVector), 1);
    EXPECT_EQ(wait(5, Queue::kLoad), 2);
    EXPECT_EQ(wait(6, Queue::kMatrix0), 1);
    EXPECT_EQ(wait(7, Queue::kVector), 1);
    EXPECT_EQ(wait(7, Queue::kLoad), 0);
}

TEST(TpuBuilder, LongDistancesBecomeStricterWaits) {
    ProgramBuilder builder(1);
    builder.emit(read_host(0, 1024));
    for (int i = 0; i < 1000; ++i)
        builder.emit(read_host(4096 + 16 * static_cast<std::uint64_t>(i), 16));
    builder.emit(matrix_multiply(0, 0, 4, false));
    const Program program = builder.finish();
    EXPECT_EQ(program.instructions[1001].wait(Queue::kLoad), 255);
}

TEST(TpuBuilder, WaitsCoverEveryPairThatConflicts) {
    // Against the definition: for every two instructions of different queues that touch the same
    // place, one writing, the later waits for the earlier, directly or through others.
    std::mt19937 random(4);
    for (int repeat = 0; repeat < 20; ++repeat) {
        ProgramBuilder builder(1);
        const auto place = [&] { return std::uint64_t{random() % 16} * 256; };
        for (int i = 0; i < 60; ++i) switch (random() % 5) {
                case 0:
                    builder.emit(read_host(place(), 256 + random() % 1024));
                    break;
                case 1:
                    builder.emit(write_host(place(), 0, 256 + random() % 512));
                    break;
                case 2:
                    builder.emit(matrix_multiply(place(), random() % 8, 1 + random() % 4, true));
                    break;
                case 3:
                    builder.emit(activate(random() % 8, 1 + random() % 4, place()));
                    break;
                default:
                    builder.emit(read_host(place(), 1));
                    break;
            }
        const Program program = builder.finish();
        EXPECT_NO_THROW(check_waits(program));
        const std::size_t count = program.instructions.size() - 1;
        // before[i][j]: j has completed when i starts.
        std::vector<std::vector<bool>> before(count, std::vector<bool>(count));
        std::array<std::vector<std::size_t>, kQueues> issued;
        for (std::size_t i = 0; i < count; ++i) {
            const auto include = [&](std::size_t j) {
                before[i][j] = true;
                for (std::size_t k = 0; k < j; ++k)
                    if (before[j][k]) before[i][k] = true;
            };
            for (std::size_t q = 0; q < kQueues; ++q) {
                const std::size_t distance = program.instructions[i].wait(static_cast<Queue>(q));
                if (distance == 0) continue;
                ASSERT_LE(distance, issued[q].size());
                for (std::size_t k = 0; k + distance <= issued[q].size(); ++k)
                    include(issued[q][k]);
            }
            const auto own = static_cast<std::size_t>(program.instructions[i].queue());
            for (const std::size_t j : issued[own]) include(j);  // a queue works in order
            issued[own].push_back(i);
            const Footprint mine = footprint(program.instructions[i]);
            for (std::size_t j = 0; j < i; ++j) {
                const Footprint other = footprint(program.instructions[j]);
                for (const Access& a : mine.accesses())
                    for (const Access& b : other.accesses())
                        if (a.space == b.space && (a.write || b.write) && a.begin < b.end &&
                            b.begin < a.end) {
                            ASSERT_TRUE(before[i][j]) << i << " after " << j;
                        }
            }
        }
    }
}

TEST(TpuLoops, WhatIsKeptIsTakenByTheNextOfTheVectorUnit) {
    const auto relu = [](Taken takes, bool keeps, std::uint64_t rows = 8) {
        return Instruction(Opcode::kVector, {{Field::kFunction, Function::kRelu},
                                             {Field::kTakes, takes},
                                             {Field::kKeeps, keeps},
                                             {Field::kAType, DataType::kFp32},
                                             {Field::kType, DataType::kFp32},
                                             {Field::kRows, rows},
                                             {Field::kColumns, 128}});
    };
    const Instruction first = relu(Taken::kNone, true), middle = relu(Taken::kA, true),
                      last = relu(Taken::kA, false), alone = relu(Taken::kNone, false);
    const auto program = [](std::vector<Instruction> list) {
        Program made;
        made.generation = 2;
        made.instructions = std::move(list);
        made.instructions.emplace_back(Opcode::kHalt);
        return made;
    };
    EXPECT_NO_THROW(check_loops(program({alone, first, middle, last, alone})));
    EXPECT_NO_THROW(check_loops(program({first, read_host(0, 1024), last})));
    EXPECT_THROW(check_loops(program({first})), ProgramFault);
    EXPECT_THROW(check_loops(program({first, alone, last})), ProgramFault);
    EXPECT_THROW(check_loops(program({alone, last})), ProgramFault);
    EXPECT_THROW(check_loops(program({first, relu(Taken::kA, false, 16)})), ProgramFault);
}

TEST(TpuBuilder, ALoopThatIsHeldStaysTogether) {
    ProgramBuilder builder(2);
    const auto vector = [](Taken takes, bool keeps, std::uint64_t a, std::uint64_t to) {
        return Instruction(Opcode::kVector, {{Field::kFunction, Function::kRelu},
                                             {Field::kTakes, takes},
                                             {Field::kKeeps, keeps},
                                             {Field::kA, a},
                                             {Field::kAPitch, 512},
                                             {Field::kAType, DataType::kFp32},
                                             {Field::kAScale, 1.0f},
                                             {Field::kDestination, to},
                                             {Field::kPitch, 512},
                                             {Field::kType, DataType::kFp32},
                                             {Field::kOutScale, 1.0f},
                                             {Field::kRows, 8},
                                             {Field::kColumns, 128}});
    };
    builder.hold(0);
    builder.emit(vector(Taken::kNone, true, 0, 0));
    builder.emit(vector(Taken::kA, false, 0, 8192));
    builder.stop_holding();
    // Writes what the loop's first instruction reads.
    builder.emit(vector(Taken::kNone, false, 16384, 0));
    EXPECT_NO_THROW(check_loops(builder.finish()));
}

TEST(TpuWaits, AMissingWaitIsAFault) {
    ProgramBuilder builder(1);
    builder.emit(read_host(0, 1024));
    builder.emit(matrix_multiply(0, 0, 4, false));
    builder.emit(activate(0, 4, 8192));
    builder.emit(write_host(8192, 1 << 20, 1024));
    const Program program = builder.finish();
    EXPECT_NO_THROW(check_waits(program));
    for (std::size_t i = 0; i < program.instructions.size(); ++i)
        for (std::size_t q = 0; q < kQueues; ++q) {
            if (program.instructions[i].wait(static_cast<Queue>(q)) == 0) continue;
            Program changed = program;
            changed.instructions[i].set(static_cast<Field>(q), 0);
            EXPECT_THROW(check_waits(changed), ProgramFault) << i;
            // A sync before it does as well.
            Instruction sync(Opcode::kSync);
            sync.set(static_cast<Field>(q), 1);
            changed.instructions.insert(changed.instructions.begin() + static_cast<long>(i), sync);
            EXPECT_NO_THROW(check_waits(changed)) << i;
        }
}

TEST(TpuBuilder, BuffersDoNotOverlap) {
    ProgramBuilder builder(2);
    const auto a = builder.add_buffer({.name = "a", .space = Space::kMemory, .bytes = 1});
    const auto b = builder.add_buffer({.name = "b", .space = Space::kMemory, .bytes = 300});
    const auto c = builder.add_buffer({.name = "c", .space = Space::kMemory, .bytes = 1});
    EXPECT_EQ(builder.address(a), 0u);
    EXPECT_EQ(builder.address(b), 256u);
    EXPECT_EQ(builder.address(c), 768u);
    validate(builder.finish(), "p");
}

TEST(TpuFootprint, AWindowReadsOnlyItsRowsOfTheImage) {
    // 8x8 image of 4 channels, 3x3 window, padding 1: output rows 2 and 3 read input rows 1 to 4.
    Instruction convolve(Opcode::kConvolve, {{Field::kPixelPitch, 4},
                                             {Field::kRows, 16},
                                             {Field::kFirstRow, 16},
                                             {Field::kLanes, 36},
                                             {Field::kColumns, 8},
                                             {Field::kHeight, 8},
                                             {Field::kWidth, 8},
                                             {Field::kChannels, 4},
                                             {Field::kOutHeight, 8},
                                             {Field::kOutWidth, 8},
                                             {Field::kKernelHeight, 3},
                                             {Field::kKernelWidth, 3},
                                             {Field::kStrideHeight, 1},
                                             {Field::kStrideWidth, 1},
                                             {Field::kPadTop, 1},
                                             {Field::kPadLeft, 1},
                                             {Field::kDilationHeight, 1},
                                             {Field::kDilationWidth, 1}});
    EXPECT_EQ(check_operands(convolve), "");
    const Footprint touched = footprint(convolve);
    EXPECT_EQ(touched.accesses()[0].begin, 32u);
    EXPECT_EQ(touched.accesses()[0].end, 160u);
    convolve.set(Field::kRows, 64);  // into the second image
    EXPECT_EQ(footprint(convolve).accesses()[0].begin, 0u);
    EXPECT_EQ(footprint(convolve).accesses()[0].end, 512u);
}

TEST(TpuBuilder, WhatIsHeldBackFollowsLaterInstructionsThatTouchNothingOfIt) {
    ProgramBuilder builder(1);
    const auto rows_of = [](const Program& program) {
        std::vector<std::uint64_t> rows;
        for (const Instruction& i : program.instructions)
            if (i.opcode() == Opcode::kActivate) rows.push_back(i[Field::kRows]);
        return rows;
    };
    builder.hold(0);
    builder.emit(activate(0, 1, 0));
    builder.hold(1);
    builder.emit(activate(8, 2, 4096));
    builder.stop_holding();
    const ProgramBuilder::Mark mark = builder.mark();
    builder.emit(activate(16, 3, 8192));
    EXPECT_EQ(builder.size(), 1u);
    builder.release_before(1);
    EXPECT_EQ(builder.size(), 2u);
    builder.rewind(mark);  // what was held is held again
    builder.emit(activate(16, 4, 8192));
    builder.emit(read_host(4096, 64));  // overwrites what the second wrote: both precede it
    EXPECT_EQ(builder.size(), 4u);
    builder.hold(2);
    builder.emit(activate(24, 5, 0));
    builder.stop_holding();
    const Program program = builder.finish();
    EXPECT_THAT(rows_of(program), testing::ElementsAre(4, 1, 2, 5));
    EXPECT_NO_THROW(check_waits(program));
}

TEST(TpuBuilder, TheHostsTaskIsApartFromTransfers) {
    ProgramBuilder builder(1);
    builder.emit(read_host(0, 64));
    builder.emit(write_host(0, 1 << 20, 64));
    builder.call_host(builder.add_host_task({"softmax", 10, 10}));
    builder.emit(read_host(64, 64));
    const Program program = builder.finish();
    EXPECT_NO_THROW(check_waits(program));
    ASSERT_EQ(program.instructions[2].opcode(), Opcode::kInterruptHost);
    for (const Field wait : {Field::kWaitLoad, Field::kWaitStore}) {
        Program changed = program;
        changed.instructions[2].set(wait, 0);
        // The store waits for the load, so that its own wait says enough.
        if (wait == Field::kWaitStore)
            EXPECT_THROW(check_waits(changed), ProgramFault);
        else
            EXPECT_NO_THROW(check_waits(changed));
    }
    Program early = program;
    std::swap(early.instructions[3], early.instructions[4]);
    EXPECT_THROW(check_waits(early), ProgramFault);
}

}  // namespace
}  // namespace lockstep::tpu
