// SPDX-License-Identifier: Apache-2.0
// Runs hand-made instruction sequences on one SM of a machine and tells how long they take.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/chip/chip.h"
#include "models/memory/global_memory.h"
#include "models/system/system.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Control bits of an instruction, as nvdisasm-like tools print them.
struct ControlBits {
    unsigned stall = 1;
    bool yield = false;
    unsigned write_barrier = 7, read_barrier = 7;
    unsigned wait_mask = 0;
    unsigned reuse = 0;
};

/// An instruction of the common register layout: Rd 16, Ra 24, Rb 32, Rc 64, guard PT.
inline sass::Word instruction(unsigned opcode, unsigned d, unsigned a, unsigned b, unsigned c,
                              const ControlBits& control = {}) {
    sass::Word word;
    word.set_bits(0, 12, opcode);
    word.set_bits(12, 4, 7);
    word.set_bits(16, 8, d);
    word.set_bits(24, 8, a);
    word.set_bits(32, 8, b);
    word.set_bits(64, 8, c);
    word.set_bits(81, 3, 7);
    word.set_bits(87, 3, 7);
    word.set_bits(105, 4, control.stall);
    word.set_bits(109, 1, control.yield ? 0 : 1);
    word.set_bits(110, 3, control.write_barrier);
    word.set_bits(113, 3, control.read_barrier);
    word.set_bits(116, 6, control.wait_mask);
    word.set_bits(122, 4, control.reuse);
    return word;
}

inline sass::Word ffma(unsigned d, unsigned a, unsigned b, unsigned c,
                       const ControlBits& control = {}) {
    return instruction(0x223, d, a, b, c, control);
}
inline sass::Word imad(unsigned d, unsigned a, unsigned b, unsigned c,
                       const ControlBits& control = {}) {
    return instruction(0x224, d, a, b, c, control);
}
inline sass::Word mufu_rcp(unsigned d, unsigned b, const ControlBits& control = {}) {
    sass::Word word = instruction(0x308, d, 0, b, 0, control);
    word.set_bits(64, 8, 0);
    word.set_bits(74, 6, 4);
    return word;
}
/// LDS.32 Rd, [Ra]
inline sass::Word lds(unsigned d, unsigned a, const ControlBits& control = {}) {
    sass::Word word = instruction(0x984, d, a, 0, 0, control);
    word.set_bits(73, 3, 4);
    return word;
}
inline sass::Word bar_sync(const ControlBits& control = {}) {
    return instruction(0xb1d, 0, 0, 0, 0, control);
}
inline sass::Word exit_thread() {
    return instruction(0x94d, 0, 0, 0, 0, {.stall = 5});
}

class SmFixture {
  public:
    explicit SmFixture(const std::string& machine = "h200", std::vector<std::string> overrides = {})
        : machine_(config::Machine::load(machine, with_one_sm(std::move(overrides)))),
          parameters_(*machine_) {}

    /// Runs `code`, followed by EXIT, with this many warps in a CTA, one CTA after the other; the
    /// last of so many launches, of which later ones find in L2 what it holds.
    KernelCounters run(std::vector<sass::Word> code, unsigned warps = 1, unsigned ctas = 1,
                       unsigned launches = 1) {
        code.push_back(exit_thread());
        sass::Program program(static_cast<int>(machine_->integer("arch")));
        const std::uint32_t entry =
            program.add_function("test", true, std::as_bytes(std::span(code)));
        program.bind(entry);

        memory::DeviceMemory memory(1 << 20);
        sass::Launch launch;
        launch.program = &program;
        launch.memory = &memory;
        launch.arch = program.arch();
        launch.grid = {ctas, 1, 1};
        launch.block = {warps * 32, 1, 1};
        launch.shared_bytes = 16384;
        launch.rows = program.rows();
        launch.entry = entry;
        std::vector<sass::Row> literals(program.literals().size() + 1);
        launch.literals = reinterpret_cast<const std::byte*>(literals.data());
        const std::vector<std::byte> parameters(128);
        launch.constant[0] = parameters;

        StaticTable table(parameters_);
        table.describe(program, entry, static_cast<std::uint32_t>(code.size()));
        const KernelRun run{.launch = &launch,
                            .table = &table,
                            .warps_per_cta = warps,
                            .resident_ctas = 1,
                            .constant_address = 1 << 19,
                            .shared_carve_out = 32768};
        system::System system({.name = "one_sm"});
        Chip chip(system.simulation(), *machine_, parameters_, {.l2 = L2Start::kWarm});
        for (unsigned i = 1; i < launches; ++i) chip.collect(*chip.run(run, nullptr));
        return chip.collect(*chip.run(run, nullptr));
    }

    /// Cycles of a CTA that finds its code in the SM: of a second one, after a first.
    std::uint64_t warm_cycles(const std::vector<sass::Word>& code, unsigned warps = 1) {
        return run(code, warps, 2).cycles - run(code, warps, 1).cycles - parameters_.cta_latency;
    }

    /// Cycles that each of `repeats` more instructions of a kind adds.
    double cycles_each(const std::vector<sass::Word>& body, unsigned repeats = 64,
                       unsigned warps = 1, bool is_cold = false) {
        const auto cycles = [&](unsigned times) {
            std::vector<sass::Word> code;
            for (unsigned i = 0; i < times; ++i) code.insert(code.end(), body.begin(), body.end());
            return static_cast<double>(is_cold ? run(code, warps).cycles
                                               : warm_cycles(code, warps));
        };
        return (cycles(2 * repeats) - cycles(repeats)) / repeats;
    }

    const SmParameters& parameters() const { return parameters_; }

  private:
    static std::vector<std::string> with_one_sm(std::vector<std::string> overrides) {
        overrides.insert(overrides.begin(), "sm.count=1");
        return overrides;
    }
    std::shared_ptr<const config::Machine> machine_;
    SmParameters parameters_;
};

}  // namespace lockstep::gpu
