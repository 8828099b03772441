// SPDX-License-Identifier: Apache-2.0
// lockstep_fit_mufu MEASURED >isa/sass/mufu/tables.inc: the coefficients of the multifunction
// unit's tables from what lockstep_measure --tables wrote on a real chip.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "isa/sass/mufu/fit.h"
#include "sim/error/error.h"
#include "validation/compare/mufu_tables.h"

namespace lockstep::validation {

namespace {

using sass::mufu::Function;

/// Odd, so that all low digits of sources occur.
constexpr std::uint32_t kStride = 7;

/// What sin.approx and cos.approx hand to the unit: the product with 1 / 2 pi rounded to zero.
std::uint32_t in_turns(std::uint32_t x) {
    const double exact = double{std::bit_cast<float>(x)} * std::bit_cast<float>(0x3e22f983u);
    const auto nearest = static_cast<float>(exact);
    return std::bit_cast<std::uint32_t>(nearest) - (double{nearest} > exact ? 1 : 0);
}

int run(const std::string& folder) {
    static const std::map<std::string, Function> functions = {
        {"rcp", Function::kRcp},   {"rsq", Function::kRsq},  {"ex2", Function::kEx2},
        {"sqrt", Function::kSqrt}, {"lg2", Function::kLg2},  {"sin", Function::kSin},
        {"cos", Function::kCos},   {"tanh", Function::kTanh}};
    const std::vector<MufuTable> tables = find_mufu_tables(folder);
    if (tables.empty()) throw InputError(fmt::format("{}: has no tables/index.json", folder));
    std::vector<std::vector<sass::mufu::Sample>> samples(
        static_cast<std::size_t>(sass::mufu::segment_count()));
    for (const MufuTable& table : tables) {
        const auto function = functions.find(table.range.function);
        if (function == functions.end()) continue;
        const bool is_angle =
            function->second == Function::kSin || function->second == Function::kCos;
        const std::vector<float> results = read_mufu_table(table);
        for (std::uint32_t i = 0; i < results.size(); i += kStride) {
            if (!std::isnormal(results[i])) continue;
            const std::uint32_t x = table.range.first_bits + i;
            if ((x & 0x7fffff) == 0) continue;  // powers of two may not come from the table
            const auto sample = sass::mufu::sample(function->second, is_angle ? in_turns(x) : x,
                                                   std::bit_cast<std::uint32_t>(results[i]));
            samples[static_cast<std::size_t>(sample.segment)].push_back(sample);
        }
    }
    const sass::mufu::FittedTables fitted = sass::mufu::fit_tables(samples);
    fmt::print("{}", fitted.text);
    fmt::print(stderr, "{} of {} samples of {} segments have the silicon's result\n",
               fitted.fulfilled, fitted.samples, fitted.segments);
    return 0;
}

}  // namespace

}  // namespace lockstep::validation

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: {} MEASURED >isa/sass/mufu/tables.inc\n", argv[0]);
        return 2;
    }
    try {
        return lockstep::validation::run(argv[1]);
    } catch (const lockstep::Error& error) {
        fmt::print(stderr, "lockstep_fit_mufu: {}\n", error.what());
        return static_cast<int>(error.status());
    }
}
