// SPDX-License-Identifier: Apache-2.0
#include "sim/config/json_schema.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/config/built_in_machines.h"
#include "sim/config/units.h"
#include "sim/config/value.h"
#include "sim/error/error.h"

namespace lockstep::config {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kYamlFile = "\\.ya?ml$";

bool is_number(const Entry& entry) {
    return entry.type == Type::kInteger || entry.type == Type::kNumber;
}

/// A bound as the schema has it: whole numbers stay whole.
Json bound(double value) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: every whole number below is a double
    if (value == std::int64_t(value) && value > -kExact && value < kExact)
        return static_cast<std::int64_t>(value);
    return value;
}

std::string description_of(const Entry& entry) {
    std::string text = full_meaning(entry);
    if (is_number(entry))
        text += fmt::format(". From {} to {}{}; {}", entry.minimum, entry.maximum,
                            entry.unit == "1" ? "" : fmt::format(" {}", entry.unit),
                            units_for(entry.unit));
    if (!entry.default_value.empty()) text += fmt::format(". Default: {}", entry.default_value);
    return text;
}

/// The range in one of the units that a value may have.
Json range_in(const Entry& entry, std::string_view unit) {
    const double factor = *conversion(unit, entry.unit);
    Json range = {{"minimum", bound(entry.minimum / factor)},
                  {"maximum", bound(entry.maximum / factor)}};
    // 1.5 KiB are a whole number of bytes; half a byte is none.
    if (entry.type == Type::kInteger && factor <= 1 && unit == entry.unit)
        range["type"] = "integer";
    return range;
}

Json value_and_unit(const Entry& entry) {
    if (entry.type == Type::kBoolean)
        return {{"value", {{"type", "boolean"}}}, {"unit", {{"enum", {1, "1"}}}}};
    if (!entry.choices.empty()) {
        Json names = Json::array();
        for (const Choice& choice : entry.choices) names.push_back(choice.name);
        return {{"value", {{"enum", names}}}, {"unit", {{"enum", {1, "1"}}}}};
    }
    if (entry.type == Type::kText)
        return {{"value", {{"type", {"string", "number", "boolean"}}}},
                {"unit", {{"type", {"string", "number"}}}}};
    Json value = {{"type", "number"}};
    if (entry.unit == "1") {
        value.update(range_in(entry, "1"));
        return {{"value", value}, {"unit", {{"enum", {1, "1"}}}}};
    }
    return {{"value", value}, {"unit", {{"enum", units_of(entry.unit)}}}};
}

Json leaf(const Entry& entry) {
    Json made = {{"description", description_of(entry)}, {"type", "object"}};
    made["properties"] = value_and_unit(entry);
    made["properties"]["evidence"] = {{"$ref", "#/$defs/evidence"}};
    made["required"] = {"value", "evidence"};
    made["additionalProperties"] = false;
    if (!is_number(entry) || entry.unit == "1") return made;
    made["required"].push_back("unit");
    for (const std::string_view unit : units_of(entry.unit))
        made["allOf"].push_back(
            {{"if",
              {{"required", Json::array({"unit"})}, {"properties", {{"unit", {{"const", unit}}}}}}},
             {"then", {{"properties", {{"value", range_in(entry, unit)}}}}}});
    return made;
}

/// The node of the group that the path's last part stands in.
Json& group_of(Json& root, std::string_view path, bool is_closed) {
    Json* group = &root;
    for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos;
         path.remove_prefix(dot + 1)) {
        Json& next = (*group)["properties"][std::string(path.substr(0, dot))];
        if (next.is_null()) next["type"] = "object";
        if (is_closed) next["additionalProperties"] = false;
        group = &next;
    }
    return *group;
}

std::string last_part(std::string_view path) {
    return std::string(path.substr(path.rfind('.') + 1));
}

/// Adds what must be there, group by group.
void require(Json& root, std::string_view path) {
    const auto add = [](Json& group, const std::string& name) {
        Json& list = group["required"];
        if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    };
    Json* group = &root;
    for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos;
         path.remove_prefix(dot + 1)) {
        const std::string name(path.substr(0, dot));
        add(*group, name);
        group = &(*group)["properties"][name];
    }
    add(*group, std::string(path));
}

/// From the machine's header, or that of its base: nothing else is looked at.
std::string kind_of(const BuiltInMachine& machine) {
    const YAML::Node root = YAML::Load(std::string(machine.text));
    if (!root["base"]) return root["kind"].as<std::string>();
    for (const BuiltInMachine& base : built_in_machines())
        if (base.name == root["base"].as<std::string>()) return kind_of(base);
    throw InternalError(fmt::format("{}: its base is not built in", machine.name));
}

Json header(const Kind& kind) {
    std::vector<std::string> machines, prices;
    static const std::vector<std::string> kKinds = [] {
        std::vector<std::string> list;
        for (const BuiltInMachine& machine : built_in_machines()) list.push_back(kind_of(machine));
        return list;
    }();
    for (std::size_t i = 0; i < kKinds.size(); ++i)
        if (kKinds[i] == kind.name) machines.emplace_back(built_in_machines()[i].name);
    for (const BuiltInMachine& sheet : built_in_prices())
        if (sheet.name.starts_with(std::string(kind.name) + "_")) prices.emplace_back(sheet.name);
    Json made = {
        {"machine", {{"description", "the machine's name"}, {"type", "string"}}},
        {"kind",
         {{"description", "the kind of machine; one with a base has its kind"},
          {"const", kind.name}}},
        {"description", {{"description", "one line"}, {"type", "string"}}},
        {"base",
         {{"description",
           "the machine, or the machine file, that has all values which this file leaves out"},
          {"anyOf", {{{"enum", machines}}, {{"type", "string"}, {"pattern", kYamlFile}}}}}}};
    if (!prices.empty())
        made["prices"] = {{"description", "the sheet that says what energy and area cost"},
                          {"enum", prices}};
    return made;
}

/// Groups over several lines, a parameter on one.
void print(std::string& text, const Json& node, std::size_t indent) {
    const bool is_leaf =
        !node.is_object() || node.empty() ||
        (node.contains("properties") && node["properties"].contains("evidence")) ||
        !std::any_of(node.begin(), node.end(), [](const Json& item) { return item.is_object(); });
    if (is_leaf) {
        text += node.dump();
        return;
    }
    text += "{";
    bool is_first = true;
    for (const auto& [name, item] : node.items()) {
        text +=
            fmt::format("{}\n{:{}}{}: ", is_first ? "" : ",", "", indent + 2, Json(name).dump());
        print(text, item, indent + 2);
        is_first = false;
    }
    text += fmt::format("\n{:{}}}}", "", indent);
}

}  // namespace

std::string json_schema(const Kind& kind) {
    Json root = {{"$schema", kJsonSchemaDialect},
                 {"title", fmt::format("Lockstep machine file of kind {}", kind.name)},
                 {"type", "object"},
                 {"properties", header(kind)},
                 {"additionalProperties", false},
                 {"required", Json::array({"machine"})},
                 {"if", {{"not", {{"required", Json::array({"base"})}}}}},
                 {"then", {{"$ref", "#/$defs/complete"}}}};
    Json complete = {{"description", "what a machine file without a base says"},
                     {"type", "object"},
                     {"required", Json::array({"kind"})}};
    for (const Entry& entry : kind.entries) {
        group_of(root, entry.path, true)["properties"][last_part(entry.path)] = leaf(entry);
        if (!entry.is_optional) require(complete, entry.path);
    }
    root["$defs"] = {
        {"evidence",
         {{"description",
           "where the value comes from: 'measured: ...', 'published: ...' or 'assumed: ...'"},
          {"type", "string"},
          {"pattern", "^(measured|published|assumed): "}}},
        {"complete", complete}};
    std::string text;
    print(text, root, 0);
    return text + "\n";
}

}  // namespace lockstep::config
