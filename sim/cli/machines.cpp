// SPDX-License-Identifier: Apache-2.0
// `lockstep machines [M [FILTER]]`: lists the machines, or one machine's parameters with unit and
// evidence; --diff: what two machines differ in.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/data_sheet/data_sheet.h"
#include "sim/cli/paragraph.h"
#include "sim/cli/verbs.h"
#include "sim/config/json_schema.h"
#include "sim/config/machine.h"
#include "sim/config/value.h"
#include "sim/error/error.h"
#include "workloads/choose/prices.h"
#include "workloads/sweep/study_schema.h"

namespace lockstep::cli {

namespace {

using config::Machine;
using config::Parameter;

struct Options {
    std::string machine, filter, schema;
    std::vector<std::string> overrides, diff;
    bool is_short = false, is_yaml = false, is_table = false;
};

/// Value and unit, as "132" or "1980 MHz".
std::string value_text(const Parameter& parameter) {
    return parameter.unit == "1" ? parameter.value : parameter.value + " " + parameter.unit;
}

/// "measured", "published" or "assumed".
std::string evidence_kind(const Parameter& parameter) {
    return parameter.evidence.substr(0, parameter.evidence.find(':'));
}

/// The parameters whose path or meaning has `filter` in it. Throws InputError where none has.
std::vector<Parameter> parameters_of(const Machine& machine, const std::string& filter) {
    std::vector<Parameter> list = machine.parameters();
    std::erase_if(list, [&](const Parameter& p) {
        return p.path.find(filter) == std::string::npos &&
               p.meaning.find(filter) == std::string::npos;
    });
    if (list.empty())
        throw InputError(fmt::format("{}: no parameter has '{}' in its name or meaning",
                                     machine.name(), filter));
    return list;
}

std::size_t path_width(const std::vector<Parameter>& parameters) {
    std::size_t width = 0;
    for (const Parameter& p : parameters) width = std::max(width, p.path.size());
    return width;
}

void print_list() {
    for (const std::string& name : Machine::names()) {
        const auto machine = Machine::load(name);
        fmt::print("{:<14} {:<8} {}\n", name, machine->kind(), machine->description());
    }
}

/// "989", "0.254", "-": in units of `unit`.
std::string in_units(double value, double unit) {
    constexpr double kWhole = 1000;
    if (value <= 0) return "-";
    return value / unit < kWhole ? fmt::format("{:.3g}", value / unit)
                                 : fmt::format("{:.0f}", value / unit);
}

/// What data sheets have, a line a machine.
void print_table() {
    constexpr const char* kPrecisions[] = {"fp64", "fp32", "tf32", "bf16",
                                           "fp16", "fp8",  "int8", "int4"};
    constexpr double kTera = 1e12, kGiga = 1e9, kMega = 1e6;
    const choose::Prices prices = choose::Prices::built_in();
    fmt::print("{:<15} {:<9} {:<24} {:>6}", "machine", "kind", "units", "MHz");
    for (const char* precision : kPrecisions) fmt::print(" {:>6}", precision);
    fmt::print(" {:>7} {:>7} {:>6} {:>8} {:>7}\n", "GB", "GB/s", "W", "USD", "USD/h");
    for (const std::string& name : Machine::names()) {
        const auto machine = Machine::load(name);
        const DataSheet sheet = data_sheet(*machine);
        fmt::print("{:<15} {:<9} {:<24} {:>6}", name, machine->kind(), sheet.units,
                   in_units(sheet.clock, kMega));
        for (const char* precision : kPrecisions)
            fmt::print(" {:>6}", in_units(sheet.peak(precision), kTera));
        const auto card = prices.card(name), hour = prices.hour(name);
        fmt::print(" {:>7} {:>7} {:>6} {:>8} {:>7}\n", in_units(sheet.memory, kGiga),
                   in_units(sheet.bandwidth, kGiga), in_units(sheet.power, 1),
                   card ? fmt::format("{:.0f}", card->usd) : "-",
                   hour ? fmt::format("{:.2f}", hour->usd) : "-");
    }
    fmt::print(
        "Peaks in TFLOP/s (integers: TOP/s) at the machine's clock, dense, a multiply-add counted "
        "twice, as the machine file's\nparameters make them. Prices: the lowest of "
        "workloads/choose/prices.csv, where each has its date and source.\n");
}

void print_title(const Machine& machine) {
    fmt::print("{}", paragraph(fmt::format("{} ({}): {}", machine.name(), machine.kind(),
                                           machine.description()),
                               0));
}

void print_long(const Machine& machine, const std::vector<Parameter>& parameters) {
    print_title(machine);
    const std::size_t width = path_width(parameters);
    for (const Parameter& p : parameters) {
        fmt::print("  {:<{}}  {}\n", p.path, width, value_text(p));
        fmt::print("{}", paragraph(p.meaning + "; " + p.evidence, 6));
    }
}

void print_short(const Machine& machine, const std::vector<Parameter>& parameters) {
    constexpr std::size_t kColumn = 40;  // a longer path moves its own line only
    print_title(machine);
    const std::size_t width = std::min(path_width(parameters), kColumn);
    for (const Parameter& p : parameters)
        fmt::print("  {:<{}}  {:<16} {}\n", p.path, width, value_text(p), evidence_kind(p));
}

std::string in_quotes(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

/// A value as the machine file's schema has it: numbers and truth values plain, text in quotes.
std::string yaml_value(const Machine& machine, const Parameter& p) {
    const config::Kind* kind = config::find_kind(machine.kind());
    const bool is_text =
        config::find_entry(kind->entries, p.path, {p.path, 0}).type == config::Type::kText;
    return is_text ? in_quotes(p.value) : p.value;
}

/// A machine file with all values in it, which loads again.
void print_yaml(const Machine& machine, const std::vector<Parameter>& parameters) {
    fmt::print("machine: {}\nkind: {}\ndescription: {}\n", in_quotes(machine.name()),
               machine.kind(), in_quotes(machine.description()));
    std::vector<std::string> open;  // groups that stand open
    for (const Parameter& p : parameters) {
        std::vector<std::string> groups;
        std::size_t begin = 0;
        for (std::size_t dot; (dot = p.path.find('.', begin)) != std::string::npos; begin = dot + 1)
            groups.push_back(p.path.substr(begin, dot - begin));
        std::size_t same = 0;
        while (same < std::min(open.size(), groups.size()) && open[same] == groups[same]) ++same;
        for (std::size_t i = same; i < groups.size(); ++i)
            fmt::print("{:{}}{}:\n", "", 2 * i, groups[i]);
        open = groups;
        fmt::print("{:{}}{}: {{value: {}, unit: {}, evidence: {}}}\n", "", 2 * groups.size(),
                   p.path.substr(begin), yaml_value(machine, p), p.unit, in_quotes(p.evidence));
    }
}

/// What two machines differ in: values, not evidence.
void print_diff(const Options& options) {
    const auto a = Machine::load(options.diff[0]), b = Machine::load(options.diff[1]);
    struct Both {
        std::string a = "-", b = "-";
    };
    std::map<std::string, Both> all;
    for (const Parameter& p : a->parameters()) all[p.path].a = value_text(p);
    for (const Parameter& p : b->parameters()) all[p.path].b = value_text(p);
    std::size_t path = 9, value = std::max<std::size_t>(12, a->name().size());
    std::erase_if(all, [&](const auto& item) {
        return item.second.a == item.second.b ||
               item.first.find(options.filter) == std::string::npos;
    });
    for (const auto& [name, both] : all) {
        path = std::max(path, name.size());
        value = std::max(value, both.a.size());
    }
    fmt::print("{:<{}}  {:<{}}  {}\n", "parameter", path, a->name(), value, b->name());
    for (const auto& [name, both] : all)
        fmt::print("{:<{}}  {:<{}}  {}\n", name, path, both.a, value, both.b);
}

constexpr const char* kStudy = "study";

/// The files that have a schema: kinds of machines, and studies of the sweep.
std::vector<std::string> schemas() {
    std::vector<std::string> names;
    for (const config::Kind& kind : config::kinds()) names.emplace_back(kind.name);
    names.emplace_back(kStudy);
    return names;
}

void print_schema(const std::string& name) {
    if (const config::Kind* kind = config::find_kind(name))
        fmt::print("{}", config::json_schema(*kind));
    else
        fmt::print("{}", sweep::study_schema());
}

void show(const Options& options) {
    if (options.machine.empty()) {
        if (!options.overrides.empty())
            throw InputError(fmt::format("--set {}: of which machine?", options.overrides[0]));
        if (options.is_short || options.is_yaml)
            throw InputError(
                fmt::format("{}: of which machine?", options.is_yaml ? "--yaml" : "--short"));
        options.is_table ? print_table() : print_list();
        return;
    }
    const auto machine = Machine::load(options.machine, options.overrides);
    const std::vector<Parameter> parameters = parameters_of(*machine, options.filter);
    if (options.is_yaml)
        print_yaml(*machine, parameters);
    else if (options.is_short)
        print_short(*machine, parameters);
    else
        print_long(*machine, parameters);
}

}  // namespace

void add_machines(CLI::App& app, int&) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand("machines", "List the machines, or show one's parameters");
    CLI::Option* const machine =
        verb->add_option("machine", options->machine, "a machine's name, or a .yaml file");
    verb->add_option("filter", options->filter,
                     "only parameters with this in their name or meaning");
    verb->add_option("--set", options->overrides, "override a parameter: path=value")
        ->take_all()
        ->expected(1);
    CLI::Option* const is_short =
        verb->add_flag("--short", options->is_short, "a line a parameter, without sources");
    CLI::Option* const is_yaml =
        verb->add_flag("--yaml", options->is_yaml, "as a machine file, which --on takes")
            ->excludes(is_short);
    verb->add_flag("--table", options->is_table,
                   "units, clock, peaks by precision, memory, power and prices of all")
        ->excludes(machine, is_short, is_yaml);
    verb->add_option("--diff", options->diff, "two machines: the parameters that differ")
        ->expected(2)
        ->excludes(machine, is_short, is_yaml);
    verb->add_option("--schema", options->schema,
                     "JSON Schema of the machine files of a kind, or of study files, for editors")
        ->excludes(machine, is_short, is_yaml)
        ->check(CLI::IsMember(schemas()));
    verb->callback([options] {
        if (!options->schema.empty())
            print_schema(options->schema);
        else if (options->diff.empty())
            show(*options);
        else
            print_diff(*options);
    });
}

}  // namespace lockstep::cli
