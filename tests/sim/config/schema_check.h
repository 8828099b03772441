// SPDX-License-Identifier: Apache-2.0
// As much of JSON Schema (draft 2020-12) as our schemas use, to hold YAML files to them. A keyword
// that it does not know is an error: none goes unchecked.
#pragma once

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace lockstep {

/// A YAML node with the types of YAML's core schema, as editors have them.
inline nlohmann::json json_of(const YAML::Node& node) {
    nlohmann::json made;
    if (node.IsMap()) {
        made = nlohmann::json::object();
        for (const auto& item : node) made[item.first.Scalar()] = json_of(item.second);
    } else if (node.IsSequence()) {
        made = nlohmann::json::array();
        for (const auto& item : node) made.push_back(json_of(item));
    } else {
        const std::string& text = node.Scalar();
        const char* const end = text.data() + text.size();
        double number = 0;
        std::int64_t whole = 0;
        if (node.Tag() == "!") return text;  // in quotes
        if (text == "true" || text == "false") return text == "true";
        if (std::from_chars(text.data(), end, whole).ptr == end && !text.empty()) return whole;
        if (std::from_chars(text.data(), end, number).ptr == end && !text.empty()) return number;
        made = text;
    }
    return made;
}

class SchemaCheck {
  public:
    explicit SchemaCheck(const std::string& schema) : root_(nlohmann::json::parse(schema)) {}

    /// "" or what is wrong, with its path.
    std::string error_of(const nlohmann::json& value) const { return check(root_, value, ""); }

  private:
    using Json = nlohmann::json;

    static bool is_type(const std::string& type, const Json& value) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        if (type == "boolean") return value.is_boolean();
        if (type == "number") return value.is_number();
        if (type == "integer")
            return value.is_number() && value.get<double>() == std::int64_t(value.get<double>());
        throw std::logic_error("type " + type);
    }

    static const std::regex& regex_of(const std::string& pattern) {
        static std::map<std::string, std::regex> made;
        return made.try_emplace(pattern, pattern).first->second;
    }

    std::string check(const Json& schema, const Json& value, const std::string& at) const {
        std::string error;
        for (const auto& [keyword, wanted] : schema.items()) {
            error = check(schema, keyword, wanted, value, at);
            if (!error.empty()) return error;
        }
        return "";
    }

    bool fits(const Json& schema, const Json& value) const {
        return check(schema, value, "").empty();
    }

    std::string check(const Json& schema, const std::string& keyword, const Json& wanted,
                      const Json& value, const std::string& at) const {
        static const std::set<std::string> kRemarks = {"$schema", "title", "description", "$defs",
                                                       "then"};
        const auto wrong = [&] { return at + ": " + keyword + " " + wanted.dump(); };
        if (kRemarks.contains(keyword)) return "";
        if (keyword == "type") {
            const Json types = wanted.is_array() ? wanted : Json::array({wanted});
            for (const Json& type : types)
                if (is_type(type, value)) return "";
            return wrong();
        }
        if (keyword == "enum") {
            for (const Json& choice : wanted)
                if (choice == value) return "";
            return wrong();
        }
        if (keyword == "const") return wanted == value ? "" : wrong();
        if (keyword == "pattern")
            return !value.is_string() ||
                           std::regex_search(value.get<std::string>(), regex_of(wanted))
                       ? ""
                       : wrong();
        if (keyword == "minimum") return !value.is_number() || value >= wanted ? "" : wrong();
        if (keyword == "maximum") return !value.is_number() || value <= wanted ? "" : wrong();
        if (keyword == "required") {
            for (const Json& name : wanted)
                if (value.is_object() && !value.contains(name))
                    return at + ": " + name.get<std::string>() + " is missing";
            return "";
        }
        if (keyword == "properties") {
            for (const auto& [name, property] : wanted.items())
                if (value.is_object() && value.contains(name))
                    if (std::string error = check(property, value[name], at + "/" + name);
                        !error.empty())
                        return error;
            return "";
        }
        if (keyword == "additionalProperties") {
            const Json object = value.is_object() ? value : Json::object();
            for (const auto& [name, item] : object.items()) {
                if (schema.contains("properties") && schema["properties"].contains(name)) continue;
                if (wanted == false) return at + "/" + name + " is unknown";
                if (std::string error = check(wanted, item, at + "/" + name); !error.empty())
                    return error;
            }
            return "";
        }
        if (keyword == "items") {
            const Json array = value.is_array() ? value : Json::array();
            for (const Json& item : array)
                if (std::string error = check(wanted, item, at + "[]"); !error.empty())
                    return error;
            return "";
        }
        if (keyword == "anyOf") {
            for (const Json& one : wanted)
                if (fits(one, value)) return "";
            return wrong();
        }
        if (keyword == "allOf") {
            for (const Json& one : wanted)
                if (std::string error = check(one, value, at); !error.empty()) return error;
            return "";
        }
        if (keyword == "not") return fits(wanted, value) ? wrong() : "";
        if (keyword == "if") return fits(wanted, value) ? check(schema["then"], value, at) : "";
        if (keyword == "$ref") {
            const std::string name = wanted.get<std::string>().substr(std::string("#").size());
            return check(root_.at(Json::json_pointer(name)), value, at);
        }
        throw std::logic_error("keyword " + keyword);
    }

    Json root_;
};

}  // namespace lockstep
