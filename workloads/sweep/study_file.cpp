// SPDX-License-Identifier: Apache-2.0
// A study file says in YAML what the options of the sweep say. README.md has an example.
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "sim/config/value.h"
#include "workloads/sweep/amounts.h"
#include "workloads/sweep/study.h"
#include "workloads/sweep/study_schema.h"

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
        std::vector<std::string> names;
        for (const Key& known : keys()) {
            if (known.says.name == key) return known.read(*this, value);
            names.emplace_back(known.says.name);
        }
        config::fail(place(at),
                     fmt::format("unknown key '{}'{}", key, config::did_you_mean(key, names)));
    }

    static void append(std::vector<Placed>& to, const std::vector<Placed>& items) {
        to.insert(to.end(), items.begin(), items.end());
    }

    struct Key {
        StudyKey says;
        void (*read)(Reader& reader, const Node& value);
    };
    static std::span<const Key> keys();
    friend std::vector<StudyKey> lockstep::sweep::study_keys();

    const std::string file_;
    StudyText& into_;
};

std::span<const Reader::Key> Reader::keys() {
    static const Key kKeys[] = {
        {{"workloads", Shape::kList, "what runs: files, or built-in name[:key=value,...]"},
         [](Reader& r, const Node& value) { append(r.into_.workloads, r.list(value)); }},
        {{"machines", Shape::kList, "names or machine files"},
         [](Reader& r, const Node& value) { append(r.into_.machines, r.list(value)); }},
        {{"vary", Shape::kAxes,
          "path of a parameter, or workload.KEY: values, ranges a..b..step and a..b..*factor, with "
          "samples intervals a..b and a..b..log"},
         [](Reader& r, const Node& value) { r.read_axes(value); }},
        {{"set", Shape::kPairs, "parameters that all points share, as sm.count: 64"},
         [](Reader& r, const Node& value) { append(r.into_.overrides, r.pairs(value)); }},
        {{"where", Shape::kList, "formulas that every point fulfils"},
         [](Reader& r, const Node& value) { append(r.into_.constraints, r.list(value)); }},
        {{"objectives", Shape::kListOrPairs,
          "what is wanted small (max:formula: large): formulas, or name: formula; default: cycles"},
         [](Reader& r, const Node& value) {
             append(r.into_.objectives, value.IsMap() ? r.pairs(value) : r.list(value));
         }},
        {{"prices", Shape::kPairs, "machine: dollars of an hour"},
         [](Reader& r, const Node& value) { append(r.into_.prices, r.pairs(value)); }},
        {{"design",
          Shape::kText,
          "how points are chosen (default: grid, with samples lhs)",
          {"grid", "one-at-a-time", "random", "lhs", "sobol"}},
         [](Reader& r, const Node& value) { r.into_.design = r.placed(value); }},
        {{"samples", Shape::kCount, "points to draw; of design sobol times (parameters + 2)"},
         [](Reader& r, const Node& value) { r.into_.samples = r.whole(value); }},
        {{"seed", Shape::kCount, "of samples and generated inputs"},
         [](Reader& r, const Node& value) { r.into_.seed = r.whole(value); }},
        {{"mode", Shape::kText, "default: cycle", {"cycle", "emulate"}},
         [](Reader& r, const Node& value) {
             r.into_.mode = r.one_of(value, {"cycle", "emulate"}) == "cycle" ? run::Mode::kCycle
                                                                             : run::Mode::kEmulate;
         }},
        {{"l2", Shape::kText, "GPU: what the L2 holds when a kernel begins", {"cold", "warm"}},
         [](Reader& r, const Node& value) {
             r.into_.l2 = r.one_of(value, {"cold", "warm"});
         }},
        {{"no_values", Shape::kTruth, "TPU, systolic: only time"},
         [](Reader& r, const Node& value) { r.into_.no_values = r.truth(value); }},
        {{"arguments", Shape::kList, "of executables"},
         [](Reader& r, const Node& value) {
             for (const Placed& argument : r.list(value))
                 r.into_.arguments.push_back(argument.text);
         }},
        {{"timeout", Shape::kText, "time limit of a point, as 90s or 5min"},
         [](Reader& r, const Node& value) {
             r.into_.limits.seconds = seconds_of(r.scalar(value), r.place(value));
         }},
        {{"stop_dominated", Shape::kTruth,
          "end points as soon as an earlier one is better in all objectives"},
         [](Reader& r, const Node& value) { r.into_.stops_dominated = r.truth(value); }},
        {{"memory", Shape::kText, "memory limit of a point, as 4GiB"},
         [](Reader& r, const Node& value) {
             r.into_.limits.bytes = bytes_of(r.scalar(value), r.place(value));
         }},
    };
    return kKeys;
}

}  // namespace

std::vector<StudyKey> study_keys() {
    std::vector<StudyKey> keys;
    for (const Reader::Key& key : Reader::keys()) keys.push_back(key.says);
    return keys;
}

void read_study_file(const std::string& path, StudyText& into) {
    Reader(path, into).read();
}

}  // namespace lockstep::sweep
