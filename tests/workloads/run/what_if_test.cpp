// SPDX-License-Identifier: Apache-2.0
// Parameters of TPUs, NPUs and bare arrays do something: half and twice their value, or the ends of
// their range, change the cycles of some network, or that network is refused for them. GPUs:
// tests/workloads/cuda/what_if_test.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "sim/config/machine.h"
#include "sim/config/schema.h"
#include "sim/error/error.h"
#include "workloads/run/job.h"

namespace lockstep::run {
namespace {

struct Load {
    std::string what;
    std::string precision;
    bool host = false;
    bool values = false;  ///< computed, too
};

struct Case {
    std::string_view kind;
    std::vector<std::string> machines;
    std::vector<Load> loads;
};

/// Networks whose values are not computed take some 20 ms.
const Case kCases[] = {
    {"tpu",
     {"tpu_v1", "tpu_v3"},
     {{"mobilenet_v2"},
      {"gemm:m=8192,n=256,k=512"},
      {"layernorm"},
      {"bert_block"},
      {"digits_cnn"},
      {"softmax:rows=64,cols=300"},
      {"exp:rows=64,cols=1024,dtype=bf16"}}},
    {"npu",
     {"npu_mobile", "nvdla_large"},
     {{"mobilenet_v2"},
      {"resnet18"},
      {"conv2d:n=1,h=28,w=28,c=64,k=64,r=3,s=3,stride=1,pad=1"},
      {"mobilenet_v2", "4"},
      {"bert_block:hidden=64,heads=2,seq=16", "", true},
      {"softmax:rows=64,cols=300"},
      {"alexnet_2012"},
      {"digits_cnn", "", false, true}}},
    {"systolic", {"systolic"}, {{"gemm:m=10,n=40,k=30"}, {"gemm:m=64,n=64,k=64"}}},
};

/// What acts only where something else has been chosen.
const std::map<std::string_view, std::vector<std::string>> kOnlyWith = {
    {"memory.row_timeout", {"memory.row_policy=timeout"}},
    {"vector.store_slots", {"vector.alu_slots=16", "vector.load_slots=16", "memory.clock=4000"}},
    {"vector.registers", {"vector.loop_registers=8"}},
    {"sram.ports", {"sram.banks=1"}},
    {"array.winograd_values", {"array.winograd=true"}},
};

/// What no built-in network does often enough, or changes no cycles but something else.
const std::map<std::string_view, std::set<std::string_view>> kNoLoad = {
    {"tpu", {"vector.transpose_rows" /* networks are compiled to no transposition there */}},
    {"npu", {"clock.gating" /* energy */}},
    {"systolic", {"array.fidelity" /* all agree */, "clock.array" /* seconds */}},
};

using Cycles = std::vector<std::uint64_t>;

class Silent final : public Screen {};

/// Total cycles; nothing where the machine refuses the value itself; no cycles where the network
/// is refused.
std::optional<Cycles> cycles_of(const std::string& on, const Load& load,
                                const std::vector<std::string>& sets) {
    try {
        config::Machine::load(on, sets);
    } catch (const InputError&) {
        return std::nullopt;
    }
    Job job;
    job.what = load.what;
    job.machine = on;
    job.overrides = sets;
    job.no_values = !load.values;
    job.quiet = true;
    job.host = load.host;
    job.precision = load.precision;
    Silent screen;
    try {
        Cycles cycles;
        const Outcome outcome = run(job, screen);
        for (const stats::Step& step : outcome.statistics.steps())
            for (const auto& [name, value] : step.metrics)
                if (name == "cycles") cycles.push_back(value.count);
        return cycles;
    } catch (const Error& error) {
        if (error.status() == ExitStatus::kInternalError) throw;
        return Cycles{};
    }
}

const std::optional<Cycles>& unchanged(const std::string& on, const Load& load,
                                       const std::vector<std::string>& with) {
    static std::map<std::string, std::optional<Cycles>> known;
    const auto [at, is_new] = known.try_emplace(fmt::format(
        "{} {} {} {} {}", on, load.what, load.precision, load.host, fmt::join(with, " ")));
    if (is_new) at->second = cycles_of(on, load, with);
    return at->second;
}

std::vector<std::string> values_of(const config::Entry& entry, const std::string& on) {
    const auto machine = config::Machine::load(on);
    if (!machine->has(entry.path)) return {};
    std::vector<std::string> values;
    if (entry.path == "memory.standard") return {"DDR3", "LPDDR4X", "HBM2", "HBM3"};
    for (const config::Choice& choice : entry.choices)
        if (choice.name != machine->text(entry.path)) values.emplace_back(choice.name);
    if (entry.type == config::Type::kText) return values;
    if (entry.type == config::Type::kBoolean)
        return {machine->boolean(entry.path) ? "false" : "true"};
    const double value = machine->number(entry.path);
    for (double other :
         {value * 2, value / 2, value * 8, value / 8, entry.minimum, entry.maximum}) {
        if (entry.type == config::Type::kInteger) other = std::floor(other);
        if (other < entry.minimum || other > entry.maximum || other == value) continue;
        values.push_back(fmt::format("{}", other));
    }
    return values;
}

bool moves_something(const Case& of, const config::Entry& entry) {
    std::vector<std::string> with;
    if (const auto at = kOnlyWith.find(entry.path); at != kOnlyWith.end()) with = at->second;
    for (const std::string& on : of.machines)
        for (const Load& load : of.loads)
            for (const std::string& value : values_of(entry, on)) {
                std::vector<std::string> sets = with;
                sets.push_back(fmt::format("{}={}", entry.path, value));
                const auto cycles = cycles_of(on, load, sets);
                if (cycles.has_value() && cycles != unchanged(on, load, with)) return true;
            }
    return false;
}

struct Parameter {
    const Case* of;
    config::Entry entry;
    friend void PrintTo(const Parameter& parameter, std::ostream* out) {
        *out << parameter.entry.path;
    }
};

class WhatIf : public testing::TestWithParam<Parameter> {};

TEST_P(WhatIf, TheParameterMovesSomething) {
    EXPECT_TRUE(moves_something(*GetParam().of, GetParam().entry))
        << GetParam().entry.path
        << " changes no network's cycles and is not marked as reporting only";
}

/// Energy and area cost no time.
bool is_price(std::string_view path) {
    return path.starts_with("energy.") || path.starts_with("area.");
}

std::vector<Parameter> acting() {
    std::vector<Parameter> parameters;
    for (const Case& of : kCases) {
        const auto no_load = kNoLoad.find(of.kind);
        for (const config::Entry& entry : config::find_kind(of.kind)->entries)
            if (!entry.is_reporting_only && !is_price(entry.path) &&
                (no_load == kNoLoad.end() || !no_load->second.contains(entry.path)))
                parameters.push_back({&of, entry});
    }
    return parameters;
}

INSTANTIATE_TEST_SUITE_P(Machines, WhatIf, testing::ValuesIn(acting()), [](const auto& tested) {
    std::string name = fmt::format("{}_{}", tested.param.of->kind, tested.param.entry.path);
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
});

}  // namespace
}  // namespace lockstep::run
