// SPDX-License-Identifier: Apache-2.0
// A study file says in YAML what the options of the sweep say. README.md has an example.
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "sim/config/value.h"
#include "workloads/sweep/amounts.h"
#include "workloads/sweep/study.h"

namespace lockstep::sweep {

namespace {

class Reader {
  public:
    Reader(std::string file, StudyText& into) : file_(std::move(file)), into_(into) {}

    void read() {
        std::ifstream stream(file_, std::ios::binary);
        if (!stream || std::filesystem::is_directory(file_))
            throw InputError(fmt::format("{}: cannot be read", file_));
        std::ostringstream contents;
        contents << stream.rdbuf();
        YAML::Node root;
        try {
            root = YAML::Load(contents.str());
        } catch (const YAML::Exception& error) {
            config::fail({file_, error.mark.line + 1}, error.msg);
        }
        if (!root.IsMap()) config::fail({file_, 0}, "not a study: no mapping at its top");
        for (const auto& item : root) read_key(scalar(item.first), item.first, item.second);
    }

  private:
    using Node = YAML::Node;

    config::Place place(const Node& node) const { return {file_, node.Mark().line + 1}; }
    std::string scalar(const Node& node) const {
        if (!node.IsScalar()) config::fail(place(node), "wanted a single value");
        return node.Scalar();
    }
    Placed placed(const Node& node) const { return {scalar(node), place(node)}; }

    /// A value, or a list of them.
    std::vector<Placed> list(const Node& node) const {
        std::vector<Placed> items;
        if (!node.IsSequence()) return {placed(node)};
        for (const auto& item : node) items.push_back(placed(item));
        return items;
    }
    /// A mapping's pairs as KEY=VALUE.
    std::vector<Placed> pairs(const Node& node) const {
        if (!node.IsMap()) config::fail(place(node), "wanted a mapping, as name: value");
        std::vector<Placed> items;
        for (const auto& item : node)
            items.push_back({scalar(item.first) + "=" + scalar(item.second), place(item.first)});
        return items;
    }
    std::uint64_t whole(const Node& node) const {
        const std::string text = scalar(node);
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size())
            config::fail(place(node), fmt::format("{} is not a whole number", text));
        return number;
    }
    bool truth(const Node& node) const {
        const std::string text = scalar(node);
        if (text != "true" && text != "false")
            config::fail(place(node), fmt::format("'{}' is neither true nor false", text));
        return text == "true";
    }
    std::string one_of(const Node& node, const std::vector<std::string>& names) const {
        const std::string text = scalar(node);
        if (std::find(names.begin(), names.end(), text) == names.end())
            config::fail(place(node), fmt::format("unknown {} '{}'{}", "value", text,
                                                  config::did_you_mean(text, names)));
        return text;
    }

    void read_axes(const Node& node) {
        if (!node.IsMap()) config::fail(place(node), "vary: wanted a mapping, as path: [values]");
        for (const auto& item : node) {
            const std::string name = scalar(item.first);
            if (item.second.IsSequence()) {
                AxisText axis{name, {}, place(item.first)};
                for (const auto& value : item.second) axis.items.push_back(scalar(value));
                into_.axes.push_back(std::move(axis));
            } else {
                into_.axes.push_back(
                    split_axis(name + "=" + scalar(item.second), place(item.first)));
            }
        }
    }

    void read_key(const std::string& key, const Node& at, const Node& value) {
        struct Key {
            std::string_view name;
            std::function<void()> read;
        };
        const auto append = [](std::vector<Placed>& to, const std::vector<Placed>& items) {
            to.insert(to.end(), items.begin(), items.end());
        };
        const Key keys[] = {
            {"workloads", [&] { append(into_.workloads, list(value)); }},
            {"machines", [&] { append(into_.machines, list(value)); }},
            {"vary", [&] { read_axes(value); }},
            {"set", [&] { append(into_.overrides, pairs(value)); }},
            {"where", [&] { append(into_.constraints, list(value)); }},
            {"objectives",
             [&] { append(into_.objectives, value.IsMap() ? pairs(value) : list(value)); }},
            {"prices", [&] { append(into_.prices, pairs(value)); }},
            {"design", [&] { into_.design = placed(value); }},
            {"samples", [&] { into_.samples = whole(value); }},
            {"seed", [&] { into_.seed = whole(value); }},
            {"mode",
             [&] {
                 into_.mode = one_of(value, {"cycle", "emulate"}) == "cycle" ? run::Mode::kCycle
                                                                             : run::Mode::kEmulate;
             }},
            {"l2",
             [&] {
                 into_.l2 = one_of(value, {"cold", "warm"});
             }},
            {"no_values", [&] { into_.no_values = truth(value); }},
            {"arguments",
             [&] {
                 for (const Placed& argument : list(value))
                     into_.arguments.push_back(argument.text);
             }},
            {"timeout", [&] { into_.limits.seconds = seconds_of(scalar(value), place(value)); }},
            {"stop_dominated", [&] { into_.stops_dominated = truth(value); }},
            {"memory", [&] { into_.limits.bytes = bytes_of(scalar(value), place(value)); }},
        };
        std::vector<std::string> names;
        for (const Key& known : keys) {
            if (known.name == key) return known.read();
            names.emplace_back(known.name);
        }
        config::fail(place(at),
                     fmt::format("unknown key '{}'{}", key, config::did_you_mean(key, names)));
    }

    const std::string file_;
    StudyText& into_;
};

}  // namespace

void read_study_file(const std::string& path, StudyText& into) {
    Reader(path, into).read();
}

}  // namespace lockstep::sweep
