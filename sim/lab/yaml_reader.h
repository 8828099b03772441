// SPDX-License-Identifier: Apache-2.0
// YAML with places: what is wrong is told as file:line, with the nearest right key.
#pragma once

#include <yaml-cpp/yaml.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/place.h"

namespace lockstep::lab {

class YamlReader {
  public:
    using Node = YAML::Node;

    /// `file`: its name in messages.
    explicit YamlReader(std::string file) : file_(std::move(file)) {}

    /// The mapping at the top. Throws InputError, as all here.
    Node load(const std::string& text) const;

    config::Place place(const Node& node) const { return {file_, node.Mark().line + 1}; }
    std::string scalar(const Node& node) const;
    /// Without blanks at its ends; not empty.
    std::string text(const Node& node) const;
    int whole(const Node& node, int least, int most) const;
    /// A value, or a list of them.
    std::vector<std::string> list(const Node& node) const;
    /// Calls `visit(key, key's node, value)` for each pair of a mapping; no key comes twice.
    void pairs(
        const Node& node, const std::string& wanted,
        const std::function<void(const std::string&, const Node&, const Node&)>& visit) const;
    /// Numbers and truth values are such in JSON too.
    nlohmann::ordered_json json(const Node& node) const;

    struct Key {
        std::string_view name;
        std::function<void(const Node&)> read;
        bool is_needed = false;
    };
    /// Hands each value to its key.
    void keys(const Node& mapping, const std::string& wanted, const std::vector<Key>& known) const;

  private:
    std::string file_;
};

}  // namespace lockstep::lab
