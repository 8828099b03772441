// SPDX-License-Identifier: Apache-2.0
// What costs energy on a GPU. Counters are those under Nsight Compute's names, so that the same
// table would price a measured run.
#include <algorithm>

#include "models/energy/events.h"

namespace lockstep::energy {

namespace {

constexpr double kLanes = 32, kSectorBits = 256, kByteBits = 8;
/// Banks of shared memory, 32 bits each: what a wavefront moves.
constexpr double kWavefrontBits = 1024;

constexpr std::string_view kArithmetic = "lockstep__toggle_rate_arithmetic.pct";
constexpr std::string_view kTensor = "lockstep__toggle_rate_tensor.pct";
constexpr std::string_view kMemory = "lockstep__toggle_rate_memory.pct";

/// Lanes that instructions other than the Tensor Cores' ran for.
double thread_operations(const Counts& counts) {
    return std::max(0.0, counts["smsp__thread_inst_executed_pred_on.sum"] -
                             kLanes * counts["sm__inst_executed_pipe_tensor.sum"]);
}

double single_operations(const Counts& counts) {
    return counts["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] +
           counts["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"] +
           counts["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"];
}

double double_operations(const Counts& counts) {
    return counts["smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"] +
           counts["smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"] +
           counts["smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"];
}

double half_operations(const Counts& counts) {
    return counts["smsp__sass_thread_inst_executed_op_hfma_pred_on.sum"] +
           counts["smsp__sass_thread_inst_executed_op_hadd_pred_on.sum"] +
           counts["smsp__sass_thread_inst_executed_op_hmul_pred_on.sum"];
}

double integer_operations(const Counts& counts) {
    return kLanes * counts["sm__inst_executed_pipe_alu.sum"];
}

double special_operations(const Counts& counts) {
    return kLanes * counts["sm__inst_executed_pipe_xu.sum"];
}

/// The Tensor Cores' busy time as FP16 multiply-adds: a Tensor Core that works draws the same
/// power whatever the type, so that an INT8 product costs half and a TF32 one double.
double tensor_products(const Counts& counts) {
    const double busy =
        counts["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"] / 100;
    // Warpgroups' products keep more of the multipliers busy than those of warps.
    const double all = counts["sm__inst_executed_pipe_tensor.sum"];
    const double of_warpgroups =
        all > 0 ? counts["sm__inst_executed_pipe_tensor_op_gmma.sum"] / all : 0;
    const double macs = of_warpgroups * counts.parameter("tensor_core.warpgroup.macs.fp16") +
                        (1 - of_warpgroups) * counts.parameter("tensor_core.macs.fp16");
    return busy * counts["sm__cycles_active.avg"] * counts.parameter("sm.count") *
           counts.parameter("sm.sub_cores") * macs;
}

double l1_bits(const Counts& counts) {
    return counts["l1tex__t_sectors.sum"] * kSectorBits;
}

double shared_bits(const Counts& counts) {
    return (counts["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] +
            counts["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"]) *
           kWavefrontBits;
}

/// Between L1 and L2. Counters of Nsight Compute may have no part that is for the other L2
/// partition: it counts as 0 then.
double l2_bits(const Counts& counts) {
    return (counts["lts__t_sectors.sum"] - counts["lts__t_sectors_srcunit_ltcfabric.sum"]) *
           kSectorBits;
}

double dram_bits(const Counts& counts) {
    return counts["dram__bytes.sum"] * kByteBits;
}

/// Units count for all kernels that run at once.
double seconds_of(const Counts& counts) {
    constexpr double kNano = 1e-9;
    if (counts.has("lockstep__shared_the_chip")) return 0;
    return counts["gpu__time_duration.sum"] * kNano;
}

constexpr Event kEvents[] = {
    {"instructions", "thread_instruction",
     "an instruction for one thread: fetch, decode, issue, operands", thread_operations,
     kArithmetic},
    {"fp32", "fp32", "an FP32 operation's arithmetic", single_operations, kArithmetic},
    {"fp64", "fp64", "an FP64 operation's arithmetic and wider operands", double_operations,
     kArithmetic},
    {"fp16", "fp16", "an FP16x2 operation's arithmetic", half_operations, kArithmetic},
    {"integer", "integer", "an integer or logic operation's arithmetic", integer_operations,
     kArithmetic},
    {"special", "special", "a transcendental operation or conversion", special_operations,
     kArithmetic},
    {"tensor_core", "tensor_mac", "an FP16 multiply-add of a Tensor Core, operands included",
     tensor_products, kTensor},
    {"l1", "l1_bit", "a bit from or to L1", l1_bits, kMemory},
    {"shared_memory", "shared_bit", "a bit from or to shared memory", shared_bits, kMemory},
    {"l2", "l2_bit", "a bit from or to L2, the crossbar's way included", l2_bits, kMemory},
    {"dram", "dram_bit", "a bit from or to DRAM, the controller's way included", dram_bits,
     kMemory},
};

constexpr double kMebi = 1024.0 * 1024;
/// Bits of an interface that area.dram_interface is the area of.
constexpr double kInterfaceBits = 1024;

constexpr Part kParts[] = {
    {"sm", "an SM", [](const config::Machine& m) { return m.number("sm.count"); }},
    {"l2", "a mebibyte of L2",
     [](const config::Machine& m) { return m.number("l2.size") / kMebi; }},
    {"crossbar", "the crossbar, for each SM",
     [](const config::Machine& m) { return m.number("sm.count"); }},
    {"dram_interface", "controllers and drivers of 1024 bits of DRAM bus",
     [](const config::Machine& m) { return m.number("dram.bus_width") / kInterfaceBits; }},
    {"other", "host and peer links, video, command processors, what the rest is",
     [](const config::Machine&) { return 1.0; }},
};

}  // namespace

Tables gpu_tables() {
    return {kEvents, kParts, seconds_of};
}

}  // namespace lockstep::energy
