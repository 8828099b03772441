// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>

#include "isa/tpu/footprint.h"
#include "models/tpu/buffer_streams.h"

namespace lockstep::tpu {
namespace {

using enum Field;
using UnifiedBuffer = memory::BankArbiter;
using Cycle = UnifiedBuffer::Cycle;

BankLoads loads_of(std::initializer_list<double> loads) {
    BankLoads all{};
    std::copy(loads.begin(), loads.end(), all.begin());
    return all;
}

double sum(const BankLoads& loads) {
    return std::accumulate(loads.begin(), loads.end(), 0.0);
}

TEST(UnifiedBuffer, WhoMeetsNobodyIsNotHeldUp) {
    UnifiedBuffer buffer({.banks = 2, .ports = 1});
    EXPECT_EQ(buffer.access(10, 10, 100, loads_of({1, 0})), 110u);
    EXPECT_EQ(buffer.access(20, 20, 50, loads_of({0, 1})), 70u);
    EXPECT_EQ(buffer.access(110, 110, 7, loads_of({1, 1})), 117u);
}

TEST(UnifiedBuffer, TheOlderKeepsItsShareTheYoungerGetsWhatIsLeft) {
    UnifiedBuffer buffer({.banks = 1, .ports = 1});
    EXPECT_EQ(buffer.access(0, 0, 100, loads_of({0.75})), 100u);
    // A quarter of the bank for 100 cycles, then all of it.
    EXPECT_EQ(buffer.access(0, 0, 100, loads_of({1})), 175u);
    // Nothing is left before 100, and then neither.
    EXPECT_EQ(buffer.access(50, 50, 10, loads_of({0.5})), 185u);
}

TEST(UnifiedBuffer, MorePortsServeMore) {
    UnifiedBuffer buffer({.banks = 1, .ports = 2});
    EXPECT_EQ(buffer.access(0, 0, 100, loads_of({1})), 100u);
    EXPECT_EQ(buffer.access(0, 0, 100, loads_of({1})), 100u);
    EXPECT_EQ(buffer.access(0, 0, 100, loads_of({1})), 200u);
}

TEST(UnifiedBuffer, AnInstructionCanBeTooMuchByItself) {
    UnifiedBuffer buffer({.banks = 2, .ports = 1});
    EXPECT_EQ(buffer.access(0, 0, 100, loads_of({3, 0})), 300u);
}

/// Access by access: streams that visit banks with a stride, have a few accesses under way, and
/// give way to older ones. Independent of the model.
class Arbiter {
  public:
    struct Stream {
        Cycle begin;
        std::uint64_t bank, stride, accesses;
        Cycle end = 0;
    };

    static constexpr std::size_t kDepth = 4;

    static void run(std::vector<Stream>& streams, std::uint64_t banks, std::uint64_t ports) {
        struct State {
            std::uint64_t made = 0;             // accesses that came due
            std::deque<std::uint64_t> waiting;  // their banks
        };
        std::vector<State> states(streams.size());
        std::size_t left = streams.size();
        for (Cycle now = 0; left != 0; ++now) {
            std::vector<std::uint64_t> used(banks, 0);
            for (std::size_t s = 0; s < streams.size(); ++s) {
                Stream& stream = streams[s];
                State& state = states[s];
                if (stream.end != 0 || now < stream.begin) continue;
                if (state.made < stream.accesses && state.waiting.size() < kDepth)
                    state.waiting.push_back((stream.bank + state.made++ * stream.stride) % banks);
                std::erase_if(state.waiting,
                              [&](std::uint64_t bank) { return used[bank]++ < ports; });
                if (state.made == stream.accesses && state.waiting.empty()) {
                    stream.end = now + 1;
                    --left;
                }
            }
        }
    }
};

TEST(UnifiedBuffer, AgreesWithArbitrationAccessByAccess) {
    std::mt19937 random(7);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    for (int round = 0; round < 200; ++round) {
        const std::uint64_t banks = std::uint64_t{1} << below(5), ports = 1 + below(2);
        std::vector<Arbiter::Stream> streams;
        Cycle begin = 0;
        for (std::uint64_t s = 0, count = 1 + below(4); s < count; ++s) {
            streams.push_back({begin, below(banks), below(2 * banks), 500 + below(2000)});
            begin += below(800);
        }
        const UnifiedBufferParameters parameters{.banks = static_cast<std::uint32_t>(banks),
                                                 .ports = static_cast<std::uint32_t>(ports)};
        UnifiedBuffer buffer(parameters);
        std::vector<Cycle> ends;
        for (const Arbiter::Stream& stream : streams) {
            BankLoads loads{};
            for (std::uint64_t i = 0; i < banks; ++i)
                loads[(stream.bank + i * stream.stride) % banks] += 1.0 / double(banks);
            ends.push_back(buffer.access(stream.begin, stream.begin, stream.accesses, loads));
        }
        Arbiter::run(streams, banks, ports);
        for (std::size_t s = 0; s < streams.size(); ++s) {
            // One that stands at a bank has a few accesses to others made; some meet by chance.
            const double slack = 10 + double(Arbiter::kDepth * banks) +
                                 0.05 * double(streams[s].end - streams[s].begin);
            EXPECT_NEAR(double(ends[s]), double(streams[s].end), slack)
                << "round " << round << " stream " << s << " banks " << banks << " ports " << ports;
        }
    }
}

TEST(BufferStreams, RowsOfAMatrixAreLines) {
    const UnifiedBufferParameters v1{.banks = 16, .width = 256, .ports = 1};
    const auto matrix = [](std::uint64_t source, std::uint64_t pitch, std::uint64_t lanes) {
        return Instruction(
            Opcode::kMatrixMultiply,
            {{kSource, source}, {kPitch, pitch}, {kRows, 1024}, {kLanes, lanes}, {kColumns, 256}});
    };
    const BankLoads packed = bank_accesses(matrix(0, 256, 256), v1, true);
    for (int bank = 0; bank < 16; ++bank) EXPECT_EQ(packed[bank], 64);
    // A pitch of all banks: one of them serves every row.
    const BankLoads strided = bank_accesses(matrix(512, 4096, 256), v1, true);
    EXPECT_EQ(strided[2], 1024);
    EXPECT_EQ(sum(strided), 1024);
    // Four rows in a line cost it once.
    EXPECT_EQ(sum(bank_accesses(matrix(0, 64, 64), v1, true)), 256);
    // A row that lies across two lines costs both.
    EXPECT_EQ(sum(bank_accesses(matrix(128, 512, 256), v1, true)), 2048);
}

TEST(BufferStreams, WindowsThatOverlapCostALineOnce) {
    const UnifiedBufferParameters v1{.banks = 16, .width = 256, .ports = 1};
    const auto convolve = [](std::uint64_t channels, std::uint64_t first_lane,
                             std::uint64_t lanes) {
        return Instruction(Opcode::kConvolve, {{kPixelPitch, channels},
                                               {kRows, 64},
                                               {kLanes, lanes},
                                               {kColumns, 256},
                                               {kFirstLane, first_lane},
                                               {kHeight, 66},
                                               {kWidth, 66},
                                               {kChannels, channels},
                                               {kOutHeight, 64},
                                               {kOutWidth, 64},
                                               {kKernelHeight, 3},
                                               {kKernelWidth, 3},
                                               {kStrideHeight, 1},
                                               {kStrideWidth, 1},
                                               {kDilationHeight, 1},
                                               {kDilationWidth, 1}});
    };
    // 3 pixels of the first line and 1 of the second: 66 and 64 pixels of 64 bytes pass.
    EXPECT_NEAR(sum(bank_accesses(convolve(64, 0, 256), v1, true)), 17 + 17, 1);
    // A pixel of 256 channels is a line, each of which comes once.
    EXPECT_EQ(sum(bank_accesses(convolve(256, 256, 256), v1, true)), 64);
    EXPECT_EQ(sum(bank_accesses(convolve(256, 0, 768), v1, true)), 66);
}

TEST(BufferStreams, ActivateWritesItsRowsAndReadsTheAddend) {
    const UnifiedBufferParameters v1{.banks = 16, .width = 256, .ports = 1};
    Instruction activate(
        Opcode::kActivate,
        {{kRows, 100}, {kColumns, 256}, {kDestination, 256}, {kPitch, 256}, {kAddendPitch, 4096}});
    EXPECT_EQ(sum(bank_accesses(activate, v1, true)), 100);
    activate.set(kHasAddend, true);
    const BankLoads loads = bank_accesses(activate, v1, true);
    EXPECT_EQ(sum(loads), 200);
    EXPECT_GT(loads[0], 100);
}

TEST(BufferStreams, AreTheOperandsOfTheFootprint) {
    const UnifiedBufferParameters v2{.banks = 16, .width = 256, .ports = 1};
    Instruction add(Opcode::kVector, {{kFunction, static_cast<std::uint64_t>(Function::kAdd)},
                                      {kRows, 64},
                                      {kColumns, 256},
                                      {kAPitch, 256},
                                      {kB, 1 << 16},
                                      {kBPitch, 256},
                                      {kDestination, 1 << 17},
                                      {kPitch, 256}});
    EXPECT_EQ(sum(bank_accesses(add, v2, true)), 3 * 64);
    // A row that all rows are added to is held.
    add.set(kBroadcast, static_cast<std::uint64_t>(Broadcast::kRow));
    EXPECT_EQ(sum(bank_accesses(add, v2, true)), 2 * 64);
    EXPECT_EQ(footprint(add).accesses().size(), 3u);
    // Registers load a pixel for each tap of a window; a fixed-function pipeline reads it once.
    const Instruction pool(Opcode::kPool, {{kRows, 64},
                                           {kColumns, 256},
                                           {kPixelPitch, 256},
                                           {kHeight, 16},
                                           {kWidth, 16},
                                           {kOutHeight, 8},
                                           {kOutWidth, 8},
                                           {kKernelHeight, 2},
                                           {kKernelWidth, 2},
                                           {kStrideHeight, 2},
                                           {kStrideWidth, 2},
                                           {kPitch, 256}});
    EXPECT_EQ(sum(bank_accesses(pool, v2, true)), 256 + 64);
    EXPECT_EQ(sum(bank_accesses(pool, v2, false)), 4 * 64 + 64);
    EXPECT_EQ(sum(bank_accesses(Instruction(Opcode::kSync, {}), v2, true)), 0);
}

TEST(BufferStreams, TransfersTouchWhatTheyMove) {
    const UnifiedBufferParameters v1{.banks = 16, .width = 256, .ports = 1};
    const Instruction read(Opcode::kReadHost, {{kRows, 1}, {kRowBytes, 1 << 20}});
    const BankLoads loads = bank_accesses(read, v1, true);
    for (int bank = 0; bank < 16; ++bank) EXPECT_EQ(loads[bank], 256);
}

}  // namespace
}  // namespace lockstep::tpu
