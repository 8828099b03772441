// SPDX-License-Identifier: Apache-2.0
// Random memory instructions on a few hundred bytes, so that accesses overlap often.
#pragma once

#include <random>

#include "tests/isa/sass/semantics/memory/memory_warp.h"

namespace lockstep::sass {

/// An instruction and what its warp's registers hold when it executes: R8:9 addresses, R16-R23
/// operands, R24-R27 the destination. The same step can be given to several warps.
struct Step {
    Word word;
    std::uint32_t mask = kAllLanes;
    std::uint64_t address[kWarpSize] = {};
    std::uint32_t operand[8][kWarpSize] = {};
    std::uint64_t uniform[3] = {};  ///< UR4:5, UR6:7, UR8:9
    std::uint32_t blocks = 0;       ///< UR12: bulk copies' size, 16 bytes each

    void prepare(MemoryWarp& t) const {
        for (unsigned l = 0; l < kWarpSize; ++l) {
            t.set64(8, l, address[l]);
            t[4].lane[l] = static_cast<std::uint32_t>(address[l] % 1024);
            for (unsigned r = 0; r < 8; ++r) t[16 + r].lane[l] = operand[r][l];
            t.uniform(12).lane[l] = blocks;
        }
        for (unsigned i = 0; i < 3; ++i) t.set_uniform64(4 + 2 * i, uniform[i]);
    }
};

class RandomAccess {
  public:
    /// Another allocation right behind the global memory of a MemoryWarp: `add` makes it.
    static constexpr std::uint64_t kSecond = MemoryWarp::kGlobal + MemoryWarp::kGlobalBytes;
    static constexpr unsigned kSecondBytes = 200;
    static std::vector<std::uint8_t>& add_second(MemoryWarp& t) {
        return t.memory.add(kSecond, kSecondBytes);
    }

    explicit RandomAccess(std::uint64_t seed) : random_(seed) {}

    std::uint64_t pick(std::uint64_t n) { return random_() % n; }

    /// A load or store of global memory, of any kind.
    Step load_or_store() {
        Step step = start();
        const auto size = static_cast<unsigned>(pick(kField128 + 1));
        const unsigned bytes = kFieldBytes[size];
        switch (pick(8)) {
            case 0:
            case 1:
                place(step, bytes);
                step.word = make_word(
                    0x381, {{16, 8, 24}, {24, 8, 8}, {40, 24, 0}, {72, 1, 1}, {73, 3, size}});
                break;
            case 2:
            case 3:
                place(step, bytes);
                step.word = make_word(0x386, {{24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, size}});
                break;
            case 4:  // LD, some lanes in shared memory
                place(step, bytes, true);
                step.word = make_word(0x980, {{16, 8, 24}, {24, 8, 8}, {72, 1, 1}, {73, 3, size}});
                break;
            case 5:
                place(step, bytes, true);
                step.word = make_word(0x385, {{24, 8, 8}, {64, 8, 16}, {72, 1, 1}, {73, 3, size}});
                break;
            case 6: {  // LDGSTS [R4], desc[UR][R8.64], P1
                const auto wide = static_cast<unsigned>(kField32 + pick(3));
                place(step, kFieldBytes[wide]);
                step.word = make_word(0xfae, {{16, 8, 4},
                                              {24, 8, 8},
                                              {70, 1, 1},
                                              {73, 3, wide},
                                              {76, 1, 1},
                                              {81, 3, 0},
                                              {91, 1, 1}});
                break;
            }
            default:
                bulk_copy(step);
                break;
        }
        return step;
    }

    /// An atomic or a reduction of global memory, of any kind; some generic lanes are in shared.
    Step atomic() {
        Step step = start();
        switch (pick(8)) {
            case 0:
            case 1: {  // ATOMG
                const auto type = static_cast<unsigned>(pick(4));
                place(step, type < 2 ? 4 : 8);
                step.word = make_word(0x3a8, {{16, 8, 24},
                                              {24, 8, 8},
                                              {32, 8, 16},
                                              {72, 1, 1},
                                              {73, 3, type},
                                              {81, 3, pick(8)},
                                              {87, 4, pick(9)}});
                break;
            }
            case 2: {  // ATOM
                const auto type = static_cast<unsigned>(pick(4));
                place(step, type < 2 ? 4 : 8, true);
                step.word = make_word(0x38a, {{16, 8, 24},
                                              {24, 8, 8},
                                              {32, 8, 16},
                                              {72, 1, 1},
                                              {73, 3, type},
                                              {81, 3, pick(8)},
                                              {87, 4, pick(9)}});
                break;
            }
            case 3: {  // RED
                const auto type = static_cast<unsigned>(pick(4));
                place(step, type < 2 ? 4 : 8);
                step.word = make_word(0x98e, {{16, 8, 24},
                                              {24, 8, 8},
                                              {32, 8, 16},
                                              {72, 1, 1},
                                              {73, 3, type},
                                              {87, 3, pick(8)}});
                break;
            }
            case 4: {  // ATOMG.CAS, ATOM.CAS(T); often of values that are there
                const auto size = static_cast<unsigned>(pick(3));
                const bool generic = pick(2) != 0;
                place(step, 4u << size, generic);
                for (auto& row : step.operand)
                    for (std::uint32_t& lane : row) lane %= 2;
                constexpr unsigned kSizes[] = {0, 2, 4};
                step.word =
                    make_word(generic ? 0x38b : 0x3a9, {{16, 8, 24},
                                                        {24, 8, 8},
                                                        {32, 8, 16},
                                                        {64, 8, 20},
                                                        {72, 1, 1},
                                                        {73, 3, kSizes[size]},
                                                        {81, 3, pick(8)},
                                                        {87, 2, generic ? 3 * pick(2) : 0}});
                break;
            }
            case 5:  // ATOMG.EXCH.128
                place(step, 16);
                step.word = make_word(
                    0x3a8,
                    {{16, 8, 24}, {24, 8, 8}, {32, 8, 16}, {72, 1, 1}, {73, 3, 4}, {87, 4, 8}});
                break;
            default: {  // floats, vectors of them; ATOMG, ATOM, RED
                constexpr unsigned kTypes[] = {0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15};
                constexpr unsigned kBytes[] = {4, 8, 16, 4, 8, 16, 4, 8, 16, 4, 8, 16, 8};
                constexpr unsigned kOpcodes[] = {0x3a3, 0x3a2, 0x9a6};
                const auto type = pick(std::size(kTypes));
                const unsigned opcode = kOpcodes[pick(3)];
                place(step, kBytes[type], opcode == 0x3a2);
                step.word = make_word(opcode, {{16, 8, 24},
                                               {24, 8, 8},
                                               {32, 8, 16},
                                               {72, 1, 1},
                                               {73, 4, kTypes[type]},
                                               {81, 3, pick(8)},
                                               {87, 3, 0},
                                               {90, 1, 0}});
                break;
            }
        }
        return step;
    }

  private:
    static constexpr unsigned kBytes = 512;  ///< at the end of the first allocation and into the
    static constexpr std::uint64_t kFirst = kSecond - kBytes;  ///< second

    Step start() {
        Step step;
        constexpr std::uint32_t kMasks[] = {kAllLanes, kAllLanes, 0x0000ffff, 0x80000001, 0x10};
        step.mask = pick(3) == 0 ? static_cast<std::uint32_t>(random_()) | 4u
                                 : kMasks[pick(std::size(kMasks))];
        for (auto& row : step.operand)
            for (std::uint32_t& lane : row) lane = static_cast<std::uint32_t>(random_());
        return step;
    }

    /// Addresses of `bytes`-byte elements. One in a hundred steps has a lane at fault.
    void place(Step& step, unsigned bytes, bool some_shared = false) {
        const std::uint64_t room = kBytes / bytes;
        const std::uint64_t pattern = pick(4), at = pick(room), step_by = pick(3) == 0 ? 2 : 1;
        const std::uint64_t second = pick(4) == 0 ? 64 : 0;
        for (unsigned l = 0; l < kWarpSize; ++l) {
            std::uint64_t element = at;  // one for all
            if (pattern == 1) element = (at + l * step_by) % room;
            if (pattern == 2) element = pick(room);
            if (pattern == 3) element = (at + l / 8) % room;
            step.address[l] = kFirst + second + element * bytes;
            if (pattern == 1 && step_by == 1 && at < room / 2)
                step.address[l] = kFirst + (at + l) * bytes % kBytes;
            if (some_shared && pick(8) == 0) step.address[l] = kSharedWindow + element * bytes;
        }
        if (pick(100) == 0) step.address[pick(kWarpSize)] += pick(2) == 0 ? 1 : 1ull << 30;
    }

    void bulk_copy(Step& step) {
        const std::uint64_t global = kFirst + 16 * pick(kBytes / 16), shared = 16 * pick(64);
        step.mask = 1;
        if (pick(2) == 0) {  // UBLKCP.S.G [UR8], [UR4], UR12; the barrier is UR9
            step.uniform[0] = global;
            step.uniform[2] = shared | 2048ull << 32;
            step.blocks = static_cast<std::uint32_t>(pick(20));
            step.word = Word{0x00000008040073ba, 0x0005d8000800020c};
        } else {  // UBLKCP.G.S [UR4], [UR6], UR7
            step.uniform[0] = global;
            step.uniform[1] = shared | pick(20) << 32;
            step.word = Word{0x00000004060073ba, 0x0005e20008000407};
        }
    }

    std::mt19937_64 random_;
};

/// What executing a step did, where it ended in a fault.
struct StepResult {
    bool faulted = false;
    Fault fault;
};
inline StepResult execute_step(MemoryWarp& t, const Step& step) {
    step.prepare(t);
    try {
        t.execute(step.word, step.mask);
    } catch (const Fault& fault) {
        return {true, fault};
    }
    return {};
}

}  // namespace lockstep::sass
