// SPDX-License-Identifier: Apache-2.0
// Every formula on counters made by hand. The machine is a100's file: 108 SMs of 4 sub-cores and 64
// warps, 64 FP32 lanes.
#include "models/gpu/metrics/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "models/gpu/metrics/table.h"
#include "tests/page.h"

namespace lockstep::gpu {
namespace {

class Metrics : public testing::Test {
  protected:
    Metrics() {
        kernel.registers = 32;
        kernel.shared_bytes = 4096;
        request.grid = {216, 2, 1};
        request.block = {16, 12, 1};  // 192 threads, 6 warps
        request.dynamic_shared_bytes = 1024;
        measured.cycles = 1000;
        measured.seconds = 1e-6;
    }
    double operator[](const std::string& name) const {
        for (const auto& [key, value] : all())
            if (key == name) return value.as_double();
        ADD_FAILURE() << "no metric " << name;
        return -1;
    }
    bool has(const std::string& name) const {
        const stats::Metrics list = all();
        return std::any_of(list.begin(), list.end(),
                           [&](const auto& m) { return m.first == name; });
    }
    stats::Metrics all() const {
        return derive_metrics(Peaks(*machine), LaunchShape(*machine, kernel, request), measured);
    }
    std::uint64_t& pipe_busy(Pipe pipe) { return measured.sm.pipe_busy[std::size_t(pipe)]; }
    std::uint64_t& pipe_count(Pipe pipe) {
        return measured.sm.pipe_instructions[std::size_t(pipe)];
    }
    std::uint64_t& warps_in(WarpState state) { return measured.sm.warp_cycles[std::size_t(state)]; }

    std::shared_ptr<const config::Machine> machine = config::Machine::load("a100");
    cubin::Function kernel;
    LaunchRequest request;
    Measurement measured;
};

TEST_F(Metrics, NamesAreUniqueAndNothingIsDividedByZero) {
    std::set<std::string> names;
    measured = {};
    for (const auto& [name, value] : all()) {
        EXPECT_TRUE(names.insert(name).second) << name;
        EXPECT_TRUE(value.is_count || (value.number >= 0 && value.number < 1e20)) << name;
    }
    EXPECT_GT(names.size(), 100u);
}

TEST_F(Metrics, Time) {
    measured.sm.cycles_active = 54000;
    measured.sm.sub_core_cycles_active = 108000;
    EXPECT_EQ((*this)["gpu__time_duration.sum"], 1000);  // ns
    EXPECT_EQ((*this)["sm__cycles_elapsed.max"], 1000);
    EXPECT_DOUBLE_EQ((*this)["sm__cycles_elapsed.avg.per_second"], 1e9);
    EXPECT_EQ((*this)["sm__cycles_active.avg"], 500);
    EXPECT_EQ((*this)["smsp__cycles_active.avg"], 250);
}

TEST_F(Metrics, Issue) {
    measured.sm.instructions = 3000;
    measured.sm.issue_active = 3000;
    measured.sm.active_lanes = 90000;
    measured.sm.thread_instructions = 60000;
    measured.sm.cycles_active = 1500;
    measured.sm.sub_core_cycles_active = 4000;
    EXPECT_EQ((*this)["smsp__inst_executed.sum"], 3000);
    EXPECT_EQ((*this)["smsp__inst_issued.sum"], 3000);
    EXPECT_EQ((*this)["sm__inst_executed.avg.per_cycle_active"], 2);
    EXPECT_DOUBLE_EQ((*this)["sm__inst_executed.avg.per_cycle_elapsed"], 3000. / 108000);
    EXPECT_EQ((*this)["smsp__inst_executed.avg.per_cycle_active"], 0.75);
    EXPECT_EQ((*this)["smsp__issue_active.avg.per_cycle_active"], 0.75);
    EXPECT_EQ((*this)["smsp__issue_inst0.avg.pct_of_peak_sustained_active"], 25);
    EXPECT_EQ((*this)["smsp__thread_inst_executed.sum"], 90000);
    EXPECT_EQ((*this)["smsp__thread_inst_executed_pred_on.sum"], 60000);
    EXPECT_EQ((*this)["smsp__thread_inst_executed_per_inst_executed.ratio"], 30);
    EXPECT_EQ((*this)["smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"], 20);
}

TEST_F(Metrics, WarpsAndWhatTheyWaitFor) {
    measured.sm.cycles_active = 1000;
    measured.sm.sub_core_cycles_active = 4000;
    measured.sm.issue_active = 2000;
    measured.sm.ctas = 5;
    measured.sm.warps = 30;
    for (unsigned state = 0; state < kWarpStates; ++state) measured.sm.warp_cycles[state] = 0;
    warps_in(WarpState::kSelected) = 2000;
    warps_in(WarpState::kNotSelected) = 1000;
    warps_in(WarpState::kLongScoreboard) = 12000;
    warps_in(WarpState::kDrain) = 500;
    warps_in(WarpState::kMisc) = 500;
    EXPECT_EQ((*this)["sm__ctas_launched.sum"], 5);
    EXPECT_EQ((*this)["smsp__warps_launched.sum"], 30);
    EXPECT_EQ((*this)["sm__warps_active.avg.per_cycle_active"], 16);
    EXPECT_EQ((*this)["sm__warps_active.avg.pct_of_peak_sustained_active"], 25);
    EXPECT_EQ((*this)["smsp__warps_active.avg.per_cycle_active"], 4);
    EXPECT_EQ((*this)["smsp__warps_eligible.avg.per_cycle_active"], 0.75);
    EXPECT_EQ((*this)["smsp__average_warp_latency_per_inst_issued.ratio"], 8);
    const auto stalled = [&](const std::string& reason) {
        return (*this)["smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio"];
    };
    EXPECT_EQ(stalled("selected"), 1);
    EXPECT_EQ(stalled("not_selected"), 0.5);
    EXPECT_EQ(stalled("long_scoreboard"), 6);
    EXPECT_EQ(stalled("drain"), 0.25);
    EXPECT_EQ(stalled("misc"), 0.25);
    EXPECT_EQ(stalled("barrier"), 0);
}

TEST_F(Metrics, EveryStateOfAWarpHasItsName) {
    const char* names[] = {"selected",
                           "not_selected",
                           "wait",
                           "long_scoreboard",
                           "short_scoreboard",
                           "barrier",
                           "membar",
                           "branch_resolving",
                           "no_instruction",
                           "math_pipe_throttle",
                           "mio_throttle",
                           "lg_throttle",
                           "tex_throttle",
                           "imc_miss",
                           "dispatch_stall",
                           "drain",
                           "sleeping",
                           "misc",
                           "gmma"};
    static_assert(std::size(names) == kWarpStates);
    EXPECT_FALSE(has("smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio"));
    machine = config::Machine::load("h100");  // the one architecture that has them all
    measured.sm.issue_active = 1;
    for (unsigned state = 0; state < kWarpStates; ++state)
        measured.sm.warp_cycles[state] = 100 + state;
    for (unsigned state = 0; state < kWarpStates; ++state)
        EXPECT_EQ((*this)[std::string("smsp__average_warps_issue_stalled_") + names[state] +
                          "_per_issue_active.ratio"],
                  100 + state);
}

TEST_F(Metrics, Pipes) {
    measured.sm.cycles_active = 1000;  // 4000 sub-core cycles
    pipe_count(Pipe::kAlu) = 500;
    pipe_busy(Pipe::kAlu) = 1000;
    pipe_count(Pipe::kFma) = 300;
    pipe_count(Pipe::kFmaHeavy) = 100;
    pipe_count(Pipe::kTensor) = 40;
    pipe_busy(Pipe::kTensor) = 2000;
    measured.sm.hmma = 40;
    measured.sm.tensor_operations = 81920;
    EXPECT_EQ((*this)["sm__inst_executed_pipe_alu.sum"], 500);
    EXPECT_EQ((*this)["sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"], 25);
    EXPECT_EQ((*this)["sm__inst_executed_pipe_fma.sum"], 400);
    // 16 lanes a sub-core: 2 cycles each.
    EXPECT_EQ((*this)["sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"], 20);
    EXPECT_EQ((*this)["sm__inst_executed_pipe_tensor.sum"], 40);
    EXPECT_EQ((*this)["sm__inst_executed_pipe_tensor_op_hmma.sum"], 40);
    EXPECT_EQ((*this)["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"], 50);
    EXPECT_DOUBLE_EQ((*this)["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"],
                     100 * 2000. / 432000);
    EXPECT_EQ((*this)["sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active"],
              50);
    EXPECT_EQ((*this)["lockstep__tensor_fma.sum"], 81920);
    EXPECT_EQ((*this)["sm__pipe_tensor_op_imma_cycles_active.avg.pct_of_peak_sustained_active"], 0);
    measured.sm.imma = 1;
    pipe_count(Pipe::kTensor) = 41;
    EXPECT_FALSE(has("sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active"));
    for (const char* name : {"fp16", "fp64", "xu", "uniform", "lsu", "adu", "cbu"})
        EXPECT_TRUE(has(std::string("sm__inst_executed_pipe_") + name + ".sum")) << name;
}

TEST_F(Metrics, APipeThatSubCoresShareIsHeldForAllOfThem) {
    measured.sm.cycles_active = 1000;
    pipe_busy(Pipe::kFp64) = 500;
    pipe_count(Pipe::kLsu) = 250;
    const auto used = [&](const std::string& pipe) {
        return (*this)["sm__inst_executed_pipe_" + pipe + ".avg.pct_of_peak_sustained_active"];
    };
    EXPECT_EQ(used("lsu"), 25);  // one of an SM's can pass each cycle
    EXPECT_EQ(used("fp64"), 12.5);
    machine = config::Machine::load("t4");
    EXPECT_EQ(used("lsu"), 50);  // every 2 cycles
    EXPECT_EQ(used("fp64"), 50);
}

TEST_F(Metrics, InstructionMix) {
    std::uint64_t value = 1;
    SmCounters& sm = measured.sm;
    for (std::uint64_t* counter :
         {&sm.fadd, &sm.fmul, &sm.ffma, &sm.dadd, &sm.dmul, &sm.dfma, &sm.hadd, &sm.hmul, &sm.hfma,
          &sm.global_load, &sm.global_store, &sm.shared_load, &sm.shared_store, &sm.local_load,
          &sm.local_store, &sm.atomics, &sm.branches, &sm.divergent_branches,
          &sm.register_bank_conflicts})
        *counter = value++;
    sm.l0_instruction_hits = 90;
    sm.l0_instruction_misses = 10;
    sm.lanes = {99, 1, 2, 3, 4, 5, 6, 7, 8};
    value = 1;
    for (const char* work :
         {"fp16", "fp32", "fp64", "integer", "conversion", "control", "memory", "misc"})
        EXPECT_EQ(
            (*this)[std::string("smsp__sass_thread_inst_executed_op_") + work + "_pred_on.sum"],
            value++);
    value = 1;
    for (const char* op : {"fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "hadd", "hmul", "hfma"})
        EXPECT_EQ((*this)[std::string("smsp__sass_thread_inst_executed_op_") + op + "_pred_on.sum"],
                  value++);
    for (const char* op :
         {"global_ld", "global_st", "shared_ld", "shared_st", "local_ld", "local_st"})
        EXPECT_EQ((*this)[std::string("smsp__sass_inst_executed_op_") + op + ".sum"], value++);
    for (const char* name :
         {"lockstep__inst_executed_op_atomic.sum", "smsp__inst_executed_op_branch.sum",
          "lockstep__inst_executed_op_branch_divergent.sum",
          "lockstep__register_bank_conflict_cycles.sum"})
        EXPECT_EQ((*this)[name], value++);
    EXPECT_EQ((*this)["lockstep__l0_instruction_cache_hit_rate.pct"], 90);
}

TEST_F(Metrics, L1AndSharedMemory) {
    MemoryCounters& memory = measured.memory;
    memory = {.accesses = {{{.requests = 3, .sectors = 30, .sectors_hit = 26},
                            {.requests = 2, .sectors = 12, .sectors_hit = 1},
                            {.requests = 1, .sectors = 30, .sectors_hit = 20},
                            {.requests = 1, .sectors = 20, .sectors_hit = 14},
                            {.requests = 1, .sectors = 8, .sectors_hit = 4},
                            {.requests = 1, .sectors = 5},
                            {.requests = 1, .sectors = 2}}},
              .tag_wavefronts = 20,
              .shared_wavefronts_load = 11,
              .shared_wavefronts_store = 12,
              .bank_conflicts_load = 3,
              .bank_conflicts_store = 4,
              .data_busy = 500,
              .tag_busy = 200,
              .sectors_to_l2_read = 21,
              .sectors_to_l2_write = 22,
              .mshr_full = 13,
              .tlb_hits = 3,
              .tlb_misses = 1};
    measured.sm.cycles_active = 1000;
    EXPECT_EQ((*this)["lockstep__l1_requests.sum"], 10);
    EXPECT_EQ((*this)["lockstep__l1_tag_wavefronts.sum"], 20);
    EXPECT_EQ((*this)["l1tex__t_sectors.sum"], 107);
    EXPECT_EQ((*this)["l1tex__t_sectors_lookup_hit.sum"], 65);
    EXPECT_EQ((*this)["l1tex__t_sectors_lookup_miss.sum"], 35);
    EXPECT_EQ((*this)["l1tex__t_sector_hit_rate.pct"], 65);
    EXPECT_EQ((*this)["lockstep__l1_load_sector_hit_rate.pct"], 75);
    EXPECT_EQ((*this)["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 3);
    EXPECT_EQ(
        (*this)["l1tex__t_requests_pipe_lsu_mem_global_op_ld.avg.pct_of_peak_sustained_active"],
        0.3);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"], 30);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum"], 26);
    EXPECT_EQ((*this)["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"], 10);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], 12);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum"], 30);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"], 20);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"], 8);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"], 5);
    EXPECT_EQ((*this)["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"], 2);
    EXPECT_EQ((*this)["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"], 23);
    EXPECT_EQ((*this)["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"], 11);
    EXPECT_EQ((*this)["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"], 12);
    EXPECT_EQ((*this)["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"], 3);
    EXPECT_EQ((*this)["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"], 4);
    EXPECT_EQ((*this)["l1tex__m_xbar2l1tex_read_sectors.sum"], 21);
    EXPECT_EQ((*this)["l1tex__m_l1tex2xbar_write_sectors.sum"], 22);
    EXPECT_EQ((*this)["lockstep__l1_miss_table_full_cycles.sum"], 13);
    EXPECT_EQ((*this)["lockstep__l1_tlb_hit_rate.pct"], 75);
    EXPECT_EQ((*this)["l1tex__throughput.avg.pct_of_peak_sustained_active"], 50);
}

TEST_F(Metrics, L2AndDram) {
    PartitionCounters& partition = measured.partition;
    partition = {.requests = 9,
                 .sectors_read_hit = 30,
                 .sectors_read_miss = 10,
                 .sectors_write_hit = 45,
                 .sectors_write_miss = 15,
                 .atomics = 6,
                 .atomics_miss = 2,
                 .write_backs = 8,
                 .dram_bytes_read = 640000,
                 .dram_bytes_written = 320000,
                 .tlb_hits = 1,
                 .tlb_misses = 3,
                 .sectors_from_far = 20,
                 .sectors_from_far_hit = 15,
                 .sectors_to_far = 34};
    EXPECT_EQ((*this)["lts__t_requests.sum"], 9);
    EXPECT_EQ((*this)["lts__t_sectors.sum"], 160);
    EXPECT_EQ((*this)["lts__t_sectors_srcnode_gpc.sum"], 106);
    EXPECT_EQ((*this)["lts__t_sectors_srcunit_ltcfabric.sum"], 54);
    EXPECT_EQ((*this)["lts__t_sectors_op_read.sum"], 60);
    EXPECT_EQ((*this)["lts__t_sectors_op_write.sum"], 60);
    EXPECT_EQ((*this)["lockstep__l2_atomic_sectors.sum"], 6);
    EXPECT_EQ((*this)["lts__t_sectors_lookup_hit.sum"], 143);
    EXPECT_EQ((*this)["lts__t_sectors_lookup_miss.sum"], 17);
    EXPECT_DOUBLE_EQ((*this)["lts__t_sector_hit_rate.pct"], 14300. / 160);
    EXPECT_DOUBLE_EQ((*this)["lockstep__l2_atomic_sector_hit_rate.pct"], 400. / 6);
    EXPECT_EQ((*this)["lts__t_sector_op_read_hit_rate.pct"], 75);
    EXPECT_EQ((*this)["lts__t_sector_op_write_hit_rate.pct"], 100);
    EXPECT_EQ((*this)["lockstep__l2_write_sectors_present.pct"], 75);
    EXPECT_EQ((*this)["lockstep__l2_write_backs.sum"], 8);
    EXPECT_EQ((*this)["lockstep__l2_tlb_hit_rate.pct"], 25);
    EXPECT_EQ((*this)["dram__bytes.sum"], 960000);
    EXPECT_EQ((*this)["dram__bytes_read.sum"], 640000);
    EXPECT_EQ((*this)["dram__bytes_write.sum"], 320000);
    EXPECT_EQ((*this)["dram__sectors_read.sum"], 20000);
    EXPECT_EQ((*this)["dram__sectors_write.sum"], 10000);
    EXPECT_DOUBLE_EQ((*this)["dram__bytes.sum.per_second"], 9.6e11);
    EXPECT_DOUBLE_EQ((*this)["dram__cycles_elapsed.avg.per_second"],
                     machine->number("clock.memory") * 1e6);
    const double peak =  // both edges of the clock
        machine->number("dram.bus_width") / 8 * 2 * machine->number("clock.memory") * 1e6;
    EXPECT_DOUBLE_EQ((*this)["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
                     100 * 9.6e11 / peak);
    EXPECT_DOUBLE_EQ((*this)["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"],
                     100 * 9.6e11 / peak);
}

TEST_F(Metrics, ThroughputIsTheBusiestPart) {
    const auto compute = [&] {
        return (*this)["sm__throughput.avg.pct_of_peak_sustained_elapsed"];
    };
    const auto memory = [&] {
        return (*this)["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"];
    };
    measured.sm.issue_active = 43200;  // of 432000 sub-core cycles
    EXPECT_DOUBLE_EQ(compute(), 10);
    pipe_busy(Pipe::kXu) = 86400;
    EXPECT_DOUBLE_EQ(compute(), 20);
    pipe_count(Pipe::kFma) = 64800;  // 2 cycles each
    EXPECT_DOUBLE_EQ(compute(), 30);
    pipe_busy(Pipe::kTensor) = 216000;
    EXPECT_DOUBLE_EQ(compute(), 50);
    measured.memory.data_busy = 10800;  // of 108000 SM cycles
    EXPECT_DOUBLE_EQ(memory(), 10);
    measured.memory.tag_busy = 21600;
    EXPECT_DOUBLE_EQ(memory(), 20);
    measured.partition.slice_busy = 24000;  // of 80 slices' 1000 cycles
    EXPECT_DOUBLE_EQ((*this)["lts__throughput.avg.pct_of_peak_sustained_elapsed"], 30);
    measured.memory.sectors_to_l2_read = 70200;  // 64 bytes a cycle to each of 108 SMs
    EXPECT_DOUBLE_EQ(memory(), 32.5);
    // 40% of what DRAM moves in a microsecond.
    measured.partition.dram_bytes_read = static_cast<std::uint64_t>(
        machine->number("dram.bus_width") / 8 * 2 * machine->number("clock.memory") * 0.4);
    EXPECT_NEAR(memory(), 40, 1e-3);
}

// A product with broadcast operands, which LSU's rate bounds: Nsight Compute has L1 at 97.5% on an
// RTX 3090, as much as the SM.
TEST_F(Metrics, ThroughputOfL1CountsWhatComesIn) {
    measured.sm.cycles_active = 1000;
    measured.sm.pipe_instructions[static_cast<std::size_t>(Pipe::kLsu)] = 450;
    EXPECT_DOUBLE_EQ((*this)["l1tex__throughput.avg.pct_of_peak_sustained_active"],
                     45.0 * machine->number("sub_core.arbiter_interval"));
}

// What a kernel of stores does to L1: four sectors a request leave by the port of 32 bytes.
TEST_F(Metrics, ThroughputOfL1CountsStores) {
    measured.sm.cycles_active = 108000;
    measured.memory.requests_to_l2_read = 2000;
    measured.memory.sectors_to_l2_write = 8800;
    EXPECT_DOUBLE_EQ((*this)["l1tex__throughput.avg.pct_of_peak_sustained_active"], 10);
}

// Nsight Compute on RTX 3090: 6,291,456 sectors of a vector add, 332,280 cycles of 48
// slices, 39.55%.
TEST_F(Metrics, ThroughputOfL2OfOnePartIsSectorsLookedUp) {
    machine = config::Machine::load("rtx3090");
    measured.cycles = 332280;
    measured.partition.sectors_read_miss = 4194304;
    measured.partition.sectors_write_hit = 2097152;
    measured.partition.slice_busy = 332280 * 48 / 2;
    EXPECT_NEAR((*this)["lts__throughput.avg.pct_of_peak_sustained_elapsed"], 39.55, 0.15);
    EXPECT_DOUBLE_EQ((*this)["lockstep__l2_slices_busy.pct"], 50);
    measured.partition.atomics = 100'000'000;  // of many sectors at once: no more than the slices
    EXPECT_DOUBLE_EQ((*this)["lts__throughput.avg.pct_of_peak_sustained_elapsed"], 50);
}

TEST_F(Metrics, LaunchAndOccupancy) {
    EXPECT_EQ((*this)["launch__grid_size"], 432);
    EXPECT_EQ((*this)["launch__block_size"], 192);
    EXPECT_EQ((*this)["launch__thread_count"], 82944);
    EXPECT_EQ((*this)["launch__registers_per_thread"], 32);
    EXPECT_EQ((*this)["launch__shared_mem_per_block_static"], 4096);
    EXPECT_EQ((*this)["launch__shared_mem_per_block_dynamic"], 1024);
    EXPECT_EQ((*this)["launch__shared_mem_per_block_driver"], 1024);
    EXPECT_EQ((*this)["launch__occupancy_limit_blocks"], 32);
    EXPECT_EQ((*this)["launch__occupancy_limit_warps"], 10);              // 64 / 6
    EXPECT_EQ((*this)["launch__occupancy_limit_registers"], 10);          // 64 warps of 1024 / 6
    EXPECT_EQ((*this)["launch__occupancy_limit_shared_mem"], 27);         // 164 KiB / 6 KiB
    EXPECT_EQ((*this)["sm__maximum_warps_per_active_cycle_pct"], 93.75);  // 60 of 64
    EXPECT_DOUBLE_EQ((*this)["launch__waves_per_multiprocessor"], 432. / 1080);
}

TEST_F(Metrics, OnHopperTheStaticSizeIncludesTheDriversShare) {
    machine = config::Machine::load("h200");
    EXPECT_EQ((*this)["launch__shared_mem_per_block_static"], 3072);
    EXPECT_EQ((*this)["launch__shared_mem_per_block_driver"], 1024);
}

TEST(Counters, AddUp) {
    SmCounters sum, part;
    sum.cycles_active = 1;
    part.cycles_active = 2;
    part.warp_cycles[3] = 5;
    part.l0_instruction_misses = 7;
    add(sum, part);
    add(sum, part);
    EXPECT_EQ(sum.cycles_active, 5u);
    EXPECT_EQ(sum.warp_cycles[3], 10u);
    EXPECT_EQ(sum.l0_instruction_misses, 14u);
}

TEST_F(Metrics, EachHasItsRow) {
    request.cluster = {2, 1, 1};
    measured.memory.tma_copies = 1;
    measured.sm.arithmetic_toggles.bits = measured.sm.tensor_toggles.bits =
        measured.sm.memory_toggles.bits = 32;
    machine = config::Machine::load("h200");
    EXPECT_EQ(all().size(), metric_rows().size());
    for (const MetricRow& row : metric_rows()) EXPECT_FALSE(row.meaning.empty()) << row.name;
}

TEST_F(Metrics, ThePageIsWhatTheRowsSay) {
    expect_page("models/gpu/metrics/metrics.md", metrics_page());
}

}  // namespace
}  // namespace lockstep::gpu
