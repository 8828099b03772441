// SPDX-License-Identifier: Apache-2.0
// A machine file is YAML: `machine`, `kind`, `description`, then groups of parameters, each
// `{value: ..., unit: ..., evidence: "measured|published|assumed: ..."}`. `base: NAME` takes over
// what another machine has and the file does not say; `prices: NAME` then what a price sheet says
// of energy and area. Values are kept in the schema's canonical unit.
#include "sim/config/machine.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/config/built_in_machines.h"
#include "sim/config/machine_text.h"
#include "sim/config/schema.h"
#include "sim/config/settings.h"
#include "sim/config/value.h"
#include "sim/error/error.h"

namespace lockstep::config {

namespace {

class Reader {
  public:
    Reader(std::string file, const std::string& text) : file_(std::move(file)) {
        try {
            root_ = YAML::Load(text);
        } catch (const YAML::Exception& error) {
            fail({file_, error.mark.line + 1}, error.msg);
        }
        if (!root_.IsMap()) fail({file_, 0}, "not a machine file: no mapping at its top");
    }

    /// Where a key of the header stands.
    Place place_of(const std::string& key) const { return place(root_[key]); }

    std::string header(const std::string& key, bool is_required) const {
        const YAML::Node node = root_[key];
        if (!node && is_required) fail({file_, 0}, fmt::format("key '{}' is missing", key));
        if (node && !node.IsScalar())
            fail(place(node), fmt::format("'{}' must be a single value", key));
        return node ? node.Scalar() : "";
    }

    /// Which parameters the file has.
    Machine::Paths read(std::span<const Entry> entries, Machine::Parameters& parameters) const {
        Machine::Paths set;
        for (const auto& item : root_) {
            const std::string key = item.first.Scalar();
            if (key == "machine" || key == "kind" || key == "description" || key == "base" ||
                key == "prices")
                continue;
            read_node(key, item.second, item.first, entries, parameters, set);
        }
        return set;
    }

  private:
    Place place(const YAML::Node& node) const { return {file_, node.Mark().line + 1}; }

    void read_node(const std::string& path, const YAML::Node& node, const YAML::Node& key,
                   std::span<const Entry> entries, Machine::Parameters& parameters,
                   Machine::Paths& set) const {
        if (!node.IsMap()) {
            if (is_group(entries, path))
                fail(place(key), fmt::format("{}: wanted its parameters", path));
            const Entry& entry = find_entry(entries, path, place(key));
            fail(place(key),
                 fmt::format("{}: wanted {{value, unit, evidence}}, as {{value: {}, unit: {}, "
                             "evidence: \"assumed: ...\"}}",
                             path, node.IsScalar() ? node.Scalar() : "...", entry.unit));
        }
        // As deep as the schema, however deep the file: an alias may stand for what it is part of.
        if (!node["value"] && is_group(entries, path)) {
            for (const auto& item : node)
                read_node(path + "." + item.first.Scalar(), item.second, item.first, entries,
                          parameters, set);
            return;
        }
        const Entry& entry = find_entry(entries, path, place(key));
        for (const auto& item : node) {
            const std::string field = item.first.Scalar();
            if (field != "value" && field != "unit" && field != "evidence")
                fail(place(item.first),
                     fmt::format("{}: unknown field '{}'{}", path, field,
                                 did_you_mean(field, {"value", "unit", "evidence"})));
            if (!item.second.IsScalar())
                fail(place(item.first),
                     fmt::format("{}: '{}' must be a single value", path, field));
        }
        if (!node["value"]) fail(place(key), fmt::format("{}: 'value' is missing", path));
        const std::string evidence = node["evidence"] ? node["evidence"].Scalar() : "";
        if (!evidence.starts_with("measured: ") && !evidence.starts_with("published: ") &&
            !evidence.starts_with("assumed: "))
            fail(place(key),
                 fmt::format("{}: evidence must begin with 'measured: ', 'published: ' or "
                             "'assumed: '",
                             path));
        const std::string unit = node["unit"] ? node["unit"].Scalar() : "1";
        set.insert(path);
        Parameter& parameter = parameters[path];
        parameter = {path, canonical_value(entry, node["value"].Scalar(), unit, place(key)),
                     std::string(entry.unit), evidence, full_meaning(entry)};
    }

    std::string file_;
    YAML::Node root_;
};

[[noreturn]] void refuse(const Place& wanted_by, const std::string& reason) {
    if (wanted_by.file.empty()) throw InputError(reason);
    fail(wanted_by, "base: " + reason);
}

/// Of the file or built-in machine alone. `wanted_by`: the place that names it as a base.
std::string own_text(const std::string& name_or_path, const Place& wanted_by) {
    if (name_or_path.ends_with(".yaml") || name_or_path.ends_with(".yml")) {
        std::ifstream file(name_or_path, std::ios::binary);
        if (!file || std::filesystem::is_directory(name_or_path))
            refuse(wanted_by, fmt::format("{}: cannot be read", name_or_path));
        std::ostringstream contents;
        contents << file.rdbuf();
        return contents.str();
    }
    for (const BuiltInMachine& built_in : built_in_machines())
        if (built_in.name == name_or_path) return std::string(built_in.text);
    refuse(wanted_by,
           fmt::format(
               "no machine named {}{} (lockstep machines lists them; a file must end in .yaml)",
               name_or_path, did_you_mean(name_or_path, Machine::names())));
}

void check_depth(const Place& wanted_by, int depth) {
    constexpr int kMaximumDepth = 8;
    if (depth > kMaximumDepth)
        refuse(wanted_by, fmt::format("more than {} machines based on each other", kMaximumDepth));
}

/// A price sheet that is part of the program, after those that it is based on.
std::vector<BuiltInMachine> price_sheets(const std::string& name, const Place& wanted_by,
                                         int depth = 0) {
    check_depth(wanted_by, depth);
    std::vector<std::string> names;
    for (const BuiltInMachine& sheet : built_in_prices()) {
        names.emplace_back(sheet.name);
        if (sheet.name != name) continue;
        const Reader reader(name, std::string(sheet.text));
        const std::string base = reader.header("base", false);
        std::vector<BuiltInMachine> sheets;
        if (!base.empty()) sheets = price_sheets(base, reader.place_of("base"), depth + 1);
        sheets.push_back(sheet);
        return sheets;
    }
    fail(wanted_by, fmt::format("prices: no sheet named {}{}; there are {}", name,
                                did_you_mean(name, names), fmt::join(names, ", ")));
}

std::string text_with_bases(const std::string& name_or_path, const Place& wanted_by, int depth) {
    check_depth(wanted_by, depth);
    const std::string text = own_text(name_or_path, wanted_by);
    const Reader reader(name_or_path, text);
    const std::string base = reader.header("base", false);
    const std::string prices = reader.header("prices", false);
    std::string whole;
    if (!base.empty()) whole = text_with_bases(base, reader.place_of("base"), depth + 1);
    if (!prices.empty())
        for (const BuiltInMachine& sheet : price_sheets(prices, reader.place_of("prices")))
            whole += sheet.text;
    return whole + text;
}

}  // namespace

std::string machine_text(const std::string& name_or_path) {
    return text_with_bases(name_or_path, {}, 0);
}

std::vector<std::string> Machine::names() {
    std::vector<std::string> list;
    for (const BuiltInMachine& machine : built_in_machines()) list.emplace_back(machine.name);
    return list;
}

std::vector<std::pair<std::string, int>> Machine::gpus() {
    std::vector<std::pair<std::string, int>> list;
    for (const std::string& name : names()) {
        const auto machine = load(name);
        if (machine->kind() == "gpu")
            list.emplace_back(name, static_cast<int>(machine->integer("arch")));
    }
    return list;
}

std::shared_ptr<const Machine> Machine::load(const std::string& name_or_path,
                                             const std::vector<std::string>& overrides) {
    auto machine = std::make_shared<Machine>();
    machine->read(name_or_path, {}, 0);
    if (overrides.empty()) return machine;
    const auto before = machine->parameters_;
    Paths set;
    for (const std::string& text : overrides) set.insert(machine->override_parameter(text));
    machine->settle(before, set, {"--set", 0});
    return machine;
}

void Machine::settle(const Parameters& before, const Paths& set, const Place& place) {
    const Kind* kind = find_kind(kind_);
    if (kind->settle == nullptr) return;
    Settings settings(*this, place, before, set, parameters_);
    kind->settle(settings);
}

void Machine::read(const std::string& name_or_path, const Place& wanted_by, int depth) {
    check_depth(wanted_by, depth);
    const Reader reader(name_or_path, own_text(name_or_path, wanted_by));
    const std::string base = reader.header("base", false);
    if (!base.empty()) read(base, reader.place_of("base"), depth + 1);
    const Parameters before = parameters_;
    name_ = reader.header("machine", true);
    kind_ = base.empty() ? reader.header("kind", true) : kind_;
    description_ = reader.header("description", false);
    const Kind* kind = find_kind(kind_);
    if (kind == nullptr)
        throw InputError(fmt::format("{}: unknown kind of machine '{}'", name_or_path, kind_));
    const std::string prices = reader.header("prices", false);
    if (!prices.empty())
        for (const BuiltInMachine& sheet : price_sheets(prices, reader.place_of("prices")))
            Reader(std::string(sheet.name), std::string(sheet.text))
                .read(kind->entries, parameters_);
    const Paths set = reader.read(kind->entries, parameters_);
    for (const Entry& entry : kind->entries)
        if (!entry.default_value.empty() && !parameters_.contains(entry.path))
            parameters_[std::string(entry.path)] = {
                std::string(entry.path), std::string(entry.default_value), std::string(entry.unit),
                "assumed: the default, which the machine file does not change",
                full_meaning(entry)};
    for (const Entry& entry : kind->entries)
        if (!entry.is_optional && !parameters_.contains(entry.path))
            throw InputError(fmt::format("{}: parameter {} ({}) is missing", name_or_path,
                                         entry.path, entry.meaning));
    settle(before, base.empty() ? Paths() : set, {name_or_path, 0});
}

std::string Machine::override_parameter(const std::string& text) {
    const Place place{"--set " + text, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        fail(place, "wanted path=value, as sm.count=64");
    const std::string path = text.substr(0, equals);
    const std::span<const Entry> entries = find_kind(kind_)->entries;
    for (const Kind& other : kinds())
        if (other.name != kind_ && !has_entry(entries, path) && has_entry(other.entries, path))
            fail(place, fmt::format("{} is a {}; {} is a parameter of a {}", name_, kind_, path,
                                    other.name));
    const Entry& entry = find_entry(entries, path, place);
    parameters_[path] = {path, canonical_setting(entry, text.substr(equals + 1), place),
                         std::string(entry.unit), "assumed: set on the command line",
                         full_meaning(entry)};
    return path;
}

const std::string& Machine::text(std::string_view path) const {
    const auto it = parameters_.find(path);
    LOCKSTEP_CHECK(it != parameters_.end(), "machine {} has no parameter {}", name_, path);
    return it->second.value;
}

bool Machine::has(std::string_view path) const {
    return parameters_.contains(path);
}

double Machine::number(std::string_view path) const {
    const std::string& value = text(path);
    double result = 0;
    std::from_chars(value.data(), value.data() + value.size(), result);
    return result;
}

std::int64_t Machine::integer(std::string_view path) const {
    const std::string& value = text(path);
    std::int64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    LOCKSTEP_CHECK(error == std::errc{} && end == value.data() + value.size(),
                   "parameter {} of {} is not an integer: {}", path, name_, value);
    return result;
}

bool Machine::boolean(std::string_view path) const {
    return text(path) == "true";
}

std::vector<Parameter> Machine::parameters() const {
    std::vector<Parameter> list;
    for (const auto& [path, parameter] : parameters_) list.push_back(parameter);
    return list;
}

}  // namespace lockstep::config
