// SPDX-License-Identifier: Apache-2.0
// A machine file is YAML: `machine`, `kind`, `description`, then groups of parameters, each
// `{value: ..., unit: ..., evidence: "measured|published|assumed: ..."}`. `base: NAME` takes over
// what another machine has and the file does not say. Values are kept in the schema's canonical
// unit.
#include "sim/config/machine.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/config/built_in_machines.h"
#include "sim/config/machine_text.h"
#include "sim/config/nearest.h"
#include "sim/config/schema.h"
#include "sim/config/units.h"
#include "sim/error/error.h"

namespace lockstep::config {

namespace {

/// Where in a machine file (or on the command line) a value stands.
struct Place {
    std::string file;
    int line = 0;  ///< 0: none
    std::string text() const { return line == 0 ? file : fmt::format("{}:{}", file, line); }
};

[[noreturn]] void fail(const Place& place, const std::string& message) {
    throw InputError(fmt::format("{}: {}", place.text(), message));
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates) {
    const std::string near = nearest(wanted, candidates);
    return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

std::vector<std::string> paths(std::span<const Entry> entries) {
    std::vector<std::string> list;
    for (const Entry& entry : entries) list.emplace_back(entry.path);
    return list;
}

const Entry& find_entry(std::span<const Entry> entries, std::string_view path, const Place& place) {
    for (const Entry& entry : entries)
        if (entry.path == path) return entry;
    fail(place, fmt::format("unknown parameter {}{}", path, did_you_mean(path, paths(entries))));
}

bool has_entry(std::string_view kind, std::string_view path) {
    const std::span<const Entry> entries = schema(kind);
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return entry.path == path; });
}

/// Whether parameters lie below this path.
bool is_group(std::span<const Entry> entries, std::string_view path) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.path.size() > path.size() && entry.path[path.size()] == '.' &&
               entry.path.starts_with(path);
    });
}

double parse_number(std::string_view text, std::string_view path, const Place& place) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        fail(place, fmt::format("{}: '{}' is not a number", path, text));
    return value;
}

/// The value in the canonical unit, as text; checks type, unit and range.
std::string canonical_value(const Entry& entry, const std::string& value, const std::string& unit,
                            const Place& place) {
    if (entry.type == Type::kText) return value;
    if (entry.type == Type::kBoolean) {
        if (value != "true" && value != "false")
            fail(place, fmt::format("{}: '{}' is neither true nor false", entry.path, value));
        return value;
    }
    const auto factor = conversion(unit, entry.unit);
    if (!factor)
        fail(place, fmt::format("{}: unit '{}' where {} is wanted", entry.path, unit,
                                units_for(entry.unit)));
    const double number = parse_number(value, entry.path, place) * *factor;
    if (entry.type == Type::kInteger && number != std::floor(number))
        fail(place, fmt::format("{}: {} is not a whole number{}", entry.path,
                                unit == "1" ? value : value + " " + unit,
                                entry.unit == "1" ? "" : " of " + std::string(entry.unit)));
    if (number < entry.minimum || number > entry.maximum)
        fail(place,
             fmt::format("{}: {} is out of range ({} to {}{})", entry.path, number, entry.minimum,
                         entry.maximum, entry.unit == "1" ? "" : " " + std::string(entry.unit)));
    return entry.type == Type::kInteger ? fmt::format("{}", static_cast<std::int64_t>(number))
                                        : fmt::format("{}", number);
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path))
        throw InputError(fmt::format("{}: cannot be read", path));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

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

    std::string header(const std::string& key, bool is_required) const {
        const YAML::Node node = root_[key];
        if (!node && is_required) fail({file_, 0}, fmt::format("key '{}' is missing", key));
        if (node && !node.IsScalar())
            fail(place(node), fmt::format("'{}' must be a single value", key));
        return node ? node.Scalar() : "";
    }

    void read(std::span<const Entry> entries,
              std::map<std::string, Parameter, std::less<>>& parameters) const {
        for (const auto& item : root_) {
            const std::string key = item.first.Scalar();
            if (key == "machine" || key == "kind" || key == "description" || key == "base")
                continue;
            read_node(key, item.second, item.first, entries, parameters);
        }
    }

  private:
    Place place(const YAML::Node& node) const { return {file_, node.Mark().line + 1}; }

    void read_node(const std::string& path, const YAML::Node& node, const YAML::Node& key,
                   std::span<const Entry> entries,
                   std::map<std::string, Parameter, std::less<>>& parameters) const {
        if (!node.IsMap())
            fail(place(key), fmt::format("{}: wanted {{value, unit, evidence}}", path));
        // As deep as the schema, however deep the file: an alias may stand for what it is part of.
        if (!node["value"] && is_group(entries, path)) {
            for (const auto& item : node)
                read_node(path + "." + item.first.Scalar(), item.second, item.first, entries,
                          parameters);
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
        Parameter& parameter = parameters[path];
        parameter = {path, canonical_value(entry, node["value"].Scalar(), unit, place(key)),
                     std::string(entry.unit), evidence, std::string(entry.meaning)};
    }

    std::string file_;
    YAML::Node root_;
};

/// Of the file or built-in machine alone.
std::string own_text(const std::string& name_or_path) {
    if (name_or_path.ends_with(".yaml") || name_or_path.ends_with(".yml"))
        return read_file(name_or_path);
    for (const BuiltInMachine& built_in : built_in_machines())
        if (built_in.name == name_or_path) return std::string(built_in.text);
    throw InputError(fmt::format(
        "no machine named {}{} (lockstep machines lists them; a file must end in .yaml)",
        name_or_path, did_you_mean(name_or_path, Machine::names())));
}

void check_depth(const std::string& name_or_path, int depth) {
    constexpr int kMaximumDepth = 8;
    if (depth > kMaximumDepth)
        throw InputError(fmt::format("{}: more than {} machines based on each other", name_or_path,
                                     kMaximumDepth));
}

std::string text_with_bases(const std::string& name_or_path, int depth) {
    check_depth(name_or_path, depth);
    const std::string text = own_text(name_or_path);
    const std::string base = Reader(name_or_path, text).header("base", false);
    return base.empty() ? text : text_with_bases(base, depth + 1) + text;
}

}  // namespace

std::string machine_text(const std::string& name_or_path) {
    return text_with_bases(name_or_path, 0);
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
    machine->read(name_or_path, 0);
    const std::span<const Entry> entries = schema(machine->kind_);
    for (const Entry& entry : entries)
        if (!machine->parameters_.contains(entry.path))
            throw InputError(fmt::format("{}: parameter {} ({}) is missing", name_or_path,
                                         entry.path, entry.meaning));
    for (const std::string& text : overrides) machine->override_parameter(text);
    return machine;
}

void Machine::read(const std::string& name_or_path, int depth) {
    check_depth(name_or_path, depth);
    const Reader reader(name_or_path, own_text(name_or_path));
    const std::string base = reader.header("base", false);
    if (!base.empty()) read(base, depth + 1);
    name_ = reader.header("machine", true);
    kind_ = base.empty() ? reader.header("kind", true) : kind_;
    description_ = reader.header("description", false);
    const std::span<const Entry> entries = schema(kind_);
    if (entries.empty())
        throw InputError(fmt::format("{}: unknown kind of machine '{}'", name_or_path, kind_));
    reader.read(entries, parameters_);
}

void Machine::override_parameter(const std::string& text) {
    const Place place{"--set " + text, 0};
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        fail(place, "wanted path=value, as sm.count=64");
    const std::string path = text.substr(0, equals);
    for (const std::string_view other : kinds())
        if (other != kind_ && !has_entry(kind_, path) && has_entry(other, path))
            fail(place,
                 fmt::format("{} is a {}; {} is a parameter of a {}", name_, kind_, path, other));
    const Entry& entry = find_entry(schema(kind_), path, place);
    // A unit may follow the number; without one the canonical unit is meant.
    std::string value = text.substr(equals + 1);
    std::string unit(entry.unit);
    if (entry.type == Type::kInteger || entry.type == Type::kNumber) {
        const std::size_t end = value.find_first_not_of("0123456789.+-eE");
        if (end != std::string::npos && end != 0) {
            unit = value.substr(std::min(value.find_first_not_of(' ', end), value.size()));
            if (unit.empty()) unit = entry.unit;
            value.resize(end);
        }
    }
    parameters_[path] = {path, canonical_value(entry, value, unit, place), std::string(entry.unit),
                         "assumed: set on the command line", std::string(entry.meaning)};
}

const std::string& Machine::text(std::string_view path) const {
    const auto it = parameters_.find(path);
    LOCKSTEP_CHECK(it != parameters_.end(), "machine {} has no parameter {}", name_, path);
    return it->second.value;
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
