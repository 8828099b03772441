// SPDX-License-Identifier: Apache-2.0
// TPU v1: a fixed pipeline takes as many bytes of a row as it has lanes each cycle (its ways to and
// from the unified buffer are 256 bytes wide), whatever it computes; pooling passes each input row
// once (Jouppi et al., ISCA 2017, section 2 and Figure 1). Later: a VLIW unit on registers of
// sublanes x lanes; a register takes as long as its busiest slots (loads, ALU operations, stores),
// which software pipelining overlaps between registers; a loop's branch takes a cycle each round.
// Reductions along a row end in the cross-lane unit, which takes one group of rows after the other
// while the slots go on with the groups that it is done with. Our simplification: bundles are
// always packed to the slots' limit; addresses and masks cost nothing; what reads a reduction
// follows it group by group. Instructions that keep values in registers are one loop with those
// that take them.
#include "models/tpu/vector_timing.h"

#include <algorithm>

#include "isa/tpu/footprint.h"

namespace lockstep::tpu {

namespace {

using enum Field;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
    return (a + b - 1) / b;
}

class VectorUnit {
  public:
    VectorUnit(const Instruction& instruction, const VectorParameters& parameters)
        : i(instruction), p(parameters) {}

    std::uint64_t fixed_function() const {
        const std::uint64_t per_row = divide_up(i[kColumns] * widest(), p.lanes);
        if (i.opcode() != Opcode::kPool) return i[kRows] * per_row;
        // The images stream in whole; the result's rows leave.
        const std::uint64_t out_image = i[kOutHeight] * i[kOutWidth];
        const std::uint64_t in_rows = i[kRows] * i[kHeight] * i[kWidth] / out_image;
        return std::max(in_rows, i[kRows]) * per_row;
    }

    /// Bytes of an element of the widest operand in the unified buffer, or of the result.
    std::uint64_t widest() const {
        const auto size = [&](Field type) { return std::uint64_t{size_of(i.type(type))}; };
        switch (i.opcode()) {
            case Opcode::kActivate:
                return std::max(size(kType), i.flag(kHasAddend) ? size(kAddendType) : 1);
            case Opcode::kVector: {
                const bool loads_b = is_binary(i.as<Function>(kFunction)) &&
                                     i.as<Broadcast>(kBroadcast) == Broadcast::kNone;
                return std::max({size(kType), size(kAType), loads_b ? size(kBType) : 1});
            }
            case Opcode::kPool:
                return std::max(size(kType), size(kAType));
            default:
                return 1;
        }
    }

    VectorWork work() const {
        const auto takes = i.as<Taken>(kTakes);
        VectorWork work;
        if (takes != Taken::kA) work += {1, conversion(i.type(kAType)), 0};
        if (i.opcode() == Opcode::kReduce) {
            const bool squares = i.as<Reduction>(kReduction) == Reduction::kSumOfSquares;
            work.operations += squares ? 2 : 1;
            return work;
        }
        const auto function = i.as<Function>(kFunction);
        const auto then = i.as<Function>(kThen);
        // e^x is 2^(x log2 e): the sign of -x goes into the factor.
        const bool negates = function == Function::kNegate && then == Function::kExp;
        work.operations += (negates ? 0 : operations(function)) + operations(then);
        if (is_binary(function) && i.as<Broadcast>(kBroadcast) == Broadcast::kNone &&
            takes != Taken::kB)
            work += {1, conversion(i.type(kBType)), 0};
        if (!i.flag(kKeeps)) work += {0, conversion(i.type(kType)), 1};
        return work;
    }

    std::uint64_t programmed(VectorWork before) const {
        const std::uint64_t registers = register_count(i[kRows], i[kColumns]);
        switch (i.opcode()) {
            case Opcode::kActivate:
                return activate();
            case Opcode::kVector:
                before += work();
                return cycles(registers, before);
            case Opcode::kReduce: {
                before += work();
                const std::uint64_t joined = cycles(registers, before);
                if (i.as<Axis>(kAxis) == Axis::kRows)
                    // The sublanes of a register are joined in halves.
                    return joined + cycles(divide_up(i[kColumns], p.lanes), {0, 3, 1});
                return joined;
            }
            case Opcode::kPool: {
                const std::uint64_t taps = i[kKernelHeight] * i[kKernelWidth];
                return cycles(
                    registers,
                    {taps, taps * (1 + conversion(i.type(kAType))) + conversion(i.type(kType)), 1});
            }
            case Opcode::kDepthwise: {
                const std::uint64_t taps = i[kKernelHeight] * i[kKernelWidth];
                return cycles(registers, {taps, taps * (2 + conversion(i.type(kType))), 1});
            }
            case Opcode::kTranspose:
                return divide_up(i[kRows], p.transpose_rows) * divide_up(i[kColumns], p.lanes);
            default:
                return 0;
        }
    }

    std::uint64_t cross_lane() const {
        if (i.opcode() != Opcode::kReduce || i.as<Axis>(kAxis) == Axis::kRows) return 0;
        return divide_up(i[kRows], p.sublanes) * p.cross_lane_cycles;
    }

  private:
    std::uint64_t register_count(std::uint64_t rows, std::uint64_t columns) const {
        return divide_up(rows, p.sublanes) * divide_up(columns, p.lanes);
    }

    std::uint64_t cycles(std::uint64_t registers, const VectorWork& each) const {
        const std::uint64_t rounds = p.loop_registers == 0 ? 0 : registers / p.loop_registers;
        return rounds + std::max({divide_up(registers * each.loads, p.load_slots),
                                  divide_up(registers * each.operations, p.alu_slots),
                                  divide_up(registers * each.stores, p.store_slots)});
    }

    std::uint64_t conversion(DataType type) const {
        if (type == DataType::kFp32) return 0;
        // Integers are also scaled and shifted by their zero.
        return p.conversion_ops + (is_float(type) ? 0 : 2);
    }

    std::uint64_t operations(Function function) const {
        const FunctionRow& work = row(function);
        switch (work.time) {
            case FunctionTime::kOperations:
                return work.operations;
            case FunctionTime::kDivision:
                return p.divide_ops;
            case FunctionTime::kTranscendental:
                return p.transcendental_ops;
        }
        return 0;
    }

    std::uint64_t activate() const {
        VectorWork work{1, operations(i.as<Function>(kFunction)) + conversion(i.type(kType)), 1};
        if (i.type(kAccumulatorType) == DataType::kInt32) work.operations += 1;
        if (i.flag(kHasBias)) work.operations += 1;
        if (i.flag(kHasScales) || i.float_value(kScale) != 1) work.operations += 1;
        if (i.flag(kHasAddend)) {
            work.loads += 1;
            work.operations += 1 + conversion(i.type(kAddendType));
        }
        std::uint64_t total = cycles(register_count(i[kRows], i[kColumns]), work);
        if (i.as<PoolMode>(kPool) != PoolMode::kNone) {
            const std::uint64_t taps = i[kPoolKernel] * i[kPoolKernel];
            total += cycles(register_count(activate_output_rows(i), i[kColumns]), {taps, taps, 1});
        }
        return total;
    }

    const Instruction& i;
    const VectorParameters& p;
};

}  // namespace

VectorWork vector_work(const Instruction& instruction, const VectorParameters& parameters) {
    return VectorUnit(instruction, parameters).work();
}

VectorTime vector_time(const Instruction& instruction, const VectorParameters& parameters,
                       const VectorWork& before) {
    const VectorUnit unit(instruction, parameters);
    if (parameters.fixed_function)
        return {.issue = std::max<std::uint64_t>(1, unit.fixed_function())};
    return {.issue = std::max<std::uint64_t>(1, unit.programmed(before)),
            .cross_lane = unit.cross_lane()};
}

}  // namespace lockstep::tpu
