// SPDX-License-Identifier: Apache-2.0
// Any words at all are bound and executed by a CTA of two warps, each word by itself, on every
// architecture. Nothing but a fault of the simulated program may come out.
#include <cstring>

#include "isa/sass/program.h"
#include "models/gpu/device/constant_bank.h"
#include "models/gpu/execution/cta_runner.h"
#include "models/gpu/execution/cta_storage.h"
#include "models/memory/global_memory.h"

using namespace lockstep;
using namespace lockstep::sass;

namespace {

constexpr std::size_t kMaximumWords = 64;
constexpr std::uint64_t kBudget = 256;
constexpr Word kExit{0x000000000000794d, 0x000fea0003800000};

class NoEnvironment : public Environment {
  public:
    void system_call(unsigned, Warp&) override {
        throw Fault{.kind = FaultKind::kIllegalInstruction, .what = "system call"};
    }
    std::uint64_t clock(const Warp&) override { return 0; }
    std::uint64_t global_timer(const Warp&) override { return 0; }
    std::uint32_t sm_id(const Warp&) override { return 0; }
    std::uint32_t sm_count() override { return 1; }
};

/// Registers hold addresses near the buffer, small numbers and patterns, different in each lane.
void fill_registers(Warp& warp, std::uint64_t buffer, std::uint32_t rows) {
    std::uint32_t state = 12345;
    for (unsigned r = 0; r + kRegisterRow < rows; ++r) {
        for (std::uint32_t& lane : warp.register_row(r).lane) {
            state = state * 1664525 + 1013904223;
            lane = r % 4 == 0   ? static_cast<std::uint32_t>(buffer) + (state >> 20)
                   : r % 4 == 1 ? static_cast<std::uint32_t>(buffer >> 32)
                   : r % 4 == 2 ? state >> 26
                                : state;
        }
    }
}

void run(const Word& word, Arch arch, memory::DeviceMemory& memory, std::uint64_t buffer) {
    Program program(arch);
    std::byte code[3 * Word::kBytes];
    const Word words[] = {word, kExit, kExit};
    std::memcpy(code, words, sizeof code);
    program.add_function("fuzz", true, code);
    program.bind(0);

    std::byte bank[1024] = {};
    NoEnvironment environment;
    Launch launch;
    launch.program = &program;
    launch.environment = &environment;
    launch.memory = &memory;
    launch.arch = arch;
    launch.block = {48};
    launch.shared_bytes = 4096;
    launch.local_bytes = 256;
    launch.rows = program.rows();
    launch.constant[0] = launch.constant[3] = bank;
    gpu::LiteralTable literals;
    literals.fill(program, launch.constant);
    launch.literals = literals.data();
    gpu::CtaStorage storage(launch);
    storage.start(0);
    for (Warp& warp : storage.warps()) fill_registers(warp, buffer, launch.rows);
    gpu::InstructionCount count;
    try {
        gpu::run_cta(storage.cta(), kBudget, count);
    } catch (const gpu::LocatedFault&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static memory::DeviceMemory memory(1 << 20);
    static const std::uint64_t buffer = memory.allocate(65536);
    for (std::size_t i = 0; i + Word::kBytes <= size && i < kMaximumWords * Word::kBytes;
         i += Word::kBytes)
        for (const Arch arch : {70, 75, 80, 86, 89, 90})
            run(Word::load(data + i), arch, memory, buffer);
    return 0;
}
