// SPDX-License-Identifier: Apache-2.0
#include "models/energy/account.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/error/error.h"

namespace lockstep::energy {
namespace {

using config::Machine;

double value(const stats::Metrics& metrics, std::string_view wanted) {
    for (const auto& [name, value] : metrics)
        if (name == wanted) return value.as_double();
    return std::nan("");
}

stats::Statistics run_of(std::vector<stats::Metrics> steps) {
    stats::Statistics run("machine", "cycle", "workload");
    for (stats::Metrics& metrics : steps) {
        stats::Step step;
        step.name = "step";
        step.metrics = std::move(metrics);
        run.add(std::move(step));
    }
    return run;
}

constexpr double kPico = 1e-12;

TEST(Account, PricesEventsAndTime) {
    const auto machine = Machine::load("a100");
    auto run = run_of({{{"gpu__time_duration.sum", 2000.0},
                        {"dram__bytes.sum", std::uint64_t{1000}},
                        {"lts__t_sectors.sum", std::uint64_t{50}}}});
    Account(machine).add_to(run);
    const stats::Metrics& step = run.steps()[0].metrics;
    // Antepara et al.: 13.11 pJ a bit of HBM, 4.71 of L2, on A100.
    EXPECT_NEAR(value(step, "energy.dram"), 8000 * 13.11 * kPico, 1e-15);
    EXPECT_NEAR(value(step, "energy.l2"), 50 * 256 * 4.71 * kPico, 1e-15);
    EXPECT_NEAR(value(step, "energy.constant"), 75 * 2e-6, 1e-12);
    const double total =
        value(step, "energy.dram") + value(step, "energy.l2") + value(step, "energy.constant");
    EXPECT_NEAR(value(step, "energy.total"), total, 1e-15);
    EXPECT_NEAR(value(step, "energy.power"), total / 2e-6, 1e-6);
    EXPECT_EQ(value(step, "energy.fp64"), 0);
}

TEST(Account, ValuesMoveTheDataShareOnly) {
    const auto machine = Machine::load("a100");
    const auto dram = [&](double toggles) {
        auto run = run_of({{{"gpu__time_duration.sum", 1.0},
                            {"dram__bytes.sum", std::uint64_t{1}},
                            {"lockstep__toggle_rate_memory.pct", toggles}}});
        Account(machine).add_to(run);
        return value(run.steps()[0].metrics, "energy.dram") / (8 * kPico);
    };
    EXPECT_NEAR(dram(0), 8.47, 1e-9);
    EXPECT_NEAR(dram(50), 8.47 + 4.64, 1e-9);
    EXPECT_NEAR(dram(100), 8.47 + 2 * 4.64, 1e-9);
}

TEST(Account, TensorCoresAreTheirBusyTime) {
    const auto machine = Machine::load("a100");
    auto run = run_of({{{"gpu__time_duration.sum", 1e3},
                        {"sm__cycles_active.avg", 1000.0},
                        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 50.0}}});
    Account(machine).add_to(run);
    const double macs = 0.5 * 1000 * 108 * 4 * machine->number("tensor_core.macs.fp16");
    EXPECT_NEAR(value(run.steps()[0].metrics, "energy.tensor_core"), macs * 1.40 * kPico, 1e-9);
}

TEST(Account, TotalsAreThoseOfTheSteps) {
    auto run = run_of({{{"cycles", std::uint64_t{700}}, {"lockstep__mapped_macs", 1000.0}},
                       {{"cycles", std::uint64_t{1400}}, {"dram_bytes_read", 64.0}}});
    Account(Machine::load("tpu_v1")).add_to(run);
    double sum = 0;
    for (const stats::Step& step : run.steps()) sum += value(step.metrics, "energy.total");
    EXPECT_NEAR(value(run.totals(), "energy.total"), sum, sum * 1e-12);
    EXPECT_NEAR(value(run.totals(), "energy.power"), sum / 3e-6, 1e-6);
    EXPECT_NEAR(value(run.totals(), "energy.constant"), 28 * 3e-6, 1e-12);
    // 331 mm2 is the die of the paper.
    EXPECT_NEAR(value(run.totals(), "area.total"), 331, 3);
    EXPECT_NE(report(run).find("matrix_unit"), std::string::npos);
}

TEST(Account, AnNpuLeaksAndItsSramGrowsDearer) {
    const auto account = [](std::vector<std::string> overrides) {
        auto run = run_of({{{"cycles", std::uint64_t{1000}},
                            {"lockstep__sram_bytes_read", std::uint64_t{1000}},
                            {"lockstep__macs_8bit", std::uint64_t{1000000}}}});
        Account(Machine::load("nvdla_large", overrides)).add_to(run);
        return run.totals();
    };
    const stats::Metrics totals = account({});
    // nvdla.org: 3.3 mm2 at 16 nm with 2,048 MACs and 512 KiB.
    EXPECT_NEAR(value(totals, "area.total"), 3.3, 0.05);
    EXPECT_NEAR(value(totals, "energy.leakage"), value(totals, "area.total") * 0.013 * 1e-6, 1e-12);
    EXPECT_NEAR(value(totals, "energy.mac_array"), 1e6 * 0.22 * kPico, 0.01e-6);
    const double larger = value(account({"sram.size=2MiB"}), "energy.sram");
    EXPECT_NEAR(larger / value(totals, "energy.sram"), std::pow(4, 0.144), 1e-9);
}

TEST(Account, LeavesOutWhatWasNotTimedByItself) {
    auto run = run_of({{{"smsp__inst_executed.sum", std::uint64_t{5}}},
                       {{"gpu__time_duration.sum", 5.0}, {"lockstep__shared_the_chip", 1.0}}});
    Account(Machine::load("h200")).add_to(run);
    for (const stats::Step& step : run.steps())
        EXPECT_TRUE(std::isnan(value(step.metrics, "energy.total")));
    EXPECT_EQ(value(run.totals(), "energy.total"), 0);
    EXPECT_EQ(report(run), "");
}

TEST(Account, EveryMachineWithATableHasItsPrices) {
    unsigned machines = 0;
    for (const std::string& name : Machine::names()) {
        const auto machine = Machine::load(name);
        if (tables_of(machine->kind()).events.empty()) continue;
        ++machines;
        EXPECT_NO_THROW(Account{machine}) << name;
        if (!machine->has("energy.power_limit")) continue;
        EXPECT_LT(machine->number("energy.constant_power"), machine->number("energy.power_limit"))
            << name;
    }
    EXPECT_GE(machines, 20u);
}

/// A kernel that only does FP32 multiply-adds at the peak rate, as boards do within their limit.
TEST(Account, PeakArithmeticStaysNearThePowerLimit) {
    for (const char* name : {"v100", "a100", "h100", "rtx3090", "rtx4090"}) {
        const auto machine = Machine::load(name);
        const double rate = machine->number("sm.count") * machine->number("sm.fp32_lanes") *
                            machine->number("clock.sm") * 1e6;
        auto run = run_of({{{"gpu__time_duration.sum", 1e9},
                            {"smsp__thread_inst_executed_pred_on.sum", rate},
                            {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", rate}}});
        Account(machine).add_to(run);
        const double watts = value(run.totals(), "energy.power");
        EXPECT_GT(watts, 0.4 * machine->number("energy.power_limit")) << name;
        EXPECT_LT(watts, 1.3 * machine->number("energy.power_limit")) << name;
    }
}

TEST(Account, NamesAPriceThatIsMissing) {
    try {
        Account account(Machine::load("systolic"));
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("systolic"), std::string::npos);
    }
}

TEST(Account, PricesAreParametersThatSetTakes) {
    auto run = run_of({{{"gpu__time_duration.sum", 1.0}, {"dram__bytes.sum", std::uint64_t{1}}}});
    Account(Machine::load("a100", {"energy.dram_bit.control=1nJ", "energy.dram_bit.data=0"}))
        .add_to(run);
    EXPECT_NEAR(value(run.totals(), "energy.dram"), 8e-9, 1e-15);
}

}  // namespace
}  // namespace lockstep::energy
