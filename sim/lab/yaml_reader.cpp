// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/yaml_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "sim/config/value.h"

namespace lockstep::lab {

YAML::Node YamlReader::load(const std::string& text) const {
    Node root;
    try {
        root = YAML::Load(text);
    } catch (const YAML::Exception& error) {
        config::fail({file_, error.mark.line + 1}, error.msg);
    }
    if (!root.IsMap()) config::fail({file_, 0}, "no mapping at its top");
    return root;
}

std::string YamlReader::scalar(const Node& node) const {
    if (!node.IsScalar()) config::fail(place(node), "wanted a single value");
    return node.Scalar();
}

std::string YamlReader::text(const Node& node) const {
    const std::string text = scalar(node);
    const std::size_t first = text.find_first_not_of(" \n");
    if (first == std::string::npos) config::fail(place(node), "the text is empty");
    return text.substr(first, text.find_last_not_of(" \n") + 1 - first);
}

int YamlReader::whole(const Node& node, int least, int most) const {
    const std::string text = scalar(node);
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most)
        config::fail(place(node),
                     fmt::format("{} is no whole number of {} to {}", text, least, most));
    return number;
}

std::vector<std::string> YamlReader::list(const Node& node) const {
    if (!node.IsSequence()) return {text(node)};
    std::vector<std::string> items;
    for (const auto& item : node) items.push_back(text(item));
    return items;
}

void YamlReader::pairs(
    const Node& node, const std::string& wanted,
    const std::function<void(const std::string&, const Node&, const Node&)>& visit) const {
    if (!node.IsMap()) config::fail(place(node), "wanted " + wanted);
    std::set<std::string> seen;
    for (const auto& item : node) {
        const std::string name = scalar(item.first);
        if (!seen.insert(name).second)
            config::fail(place(item.first), fmt::format("'{}' stands there twice", name));
        visit(name, item.first, item.second);
    }
}

nlohmann::ordered_json YamlReader::json(const Node& node) const {
    using Json = nlohmann::ordered_json;
    if (node.IsMap()) {
        Json object = Json::object();
        pairs(node, "a mapping", [&](const std::string& name, const Node&, const Node& value) {
            object[name] = json(value);
        });
        return object;
    }
    if (node.IsSequence()) {
        Json array = Json::array();
        for (const auto& item : node) array.push_back(json(item));
        return array;
    }
    const std::string text = scalar(node);
    const bool is_quoted = node.Tag() == "!";
    if (!is_quoted) {
        const Json value = Json::parse(text, nullptr, false);
        if (value.is_number() || value.is_boolean()) return value;
    }
    return text;
}

void YamlReader::keys(const Node& mapping, const std::string& wanted,
                      const std::vector<Key>& known) const {
    std::set<std::string_view> seen;
    pairs(mapping, wanted, [&](const std::string& name, const Node& at, const Node& value) {
        const auto key = std::find_if(known.begin(), known.end(),
                                      [&](const Key& candidate) { return candidate.name == name; });
        if (key == known.end()) {
            std::vector<std::string> names;
            for (const Key& candidate : known) names.emplace_back(candidate.name);
            config::fail(place(at), fmt::format("unknown key '{}'{}", name,
                                                config::did_you_mean(name, names)));
        }
        seen.insert(key->name);
        key->read(value);
    });
    for (const Key& key : known)
        if (key.is_needed && !seen.contains(key.name))
            config::fail(place(mapping), fmt::format("{} is missing in {}", key.name, wanted));
}

}  // namespace lockstep::lab
