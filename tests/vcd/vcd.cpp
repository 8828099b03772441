// SPDX-License-Identifier: Apache-2.0
#include "tests/vcd/vcd.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace lockstep {

namespace {

class Parser {
  public:
    explicit Parser(const std::string& text) : in_(text) {}

    Vcd parse() {
        for (std::string keyword = word(); keyword != "$enddefinitions"; keyword = word())
            declare(keyword);
        until_end();
        std::string first;
        while (in_ >> first) change(first);
        for (const auto& [path, variable] : vcd_.variables)
            if (variable.values.empty()) fail(path + " has no first value");
        return std::move(vcd_);
    }

  private:
    [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error(what); }
    std::string word() {
        std::string text;
        if (!(in_ >> text)) fail("the file ends in its header");
        return text;
    }
    std::string until_end() {
        std::string text;
        for (std::string next = word(); next != "$end"; next = word()) text += next + " ";
        return text;
    }
    void declare(const std::string& keyword) {
        if (keyword == "$scope") {
            if (word() != "module") fail("a scope that is no module");
            scopes_.push_back(word());
            if (word() != "$end") fail("$scope without $end");
        } else if (keyword == "$upscope") {
            if (scopes_.empty()) fail("$upscope without a scope");
            scopes_.pop_back();
            until_end();
        } else if (keyword == "$var") {
            const std::string type = word(), width = word(), id = word(), name = word();
            std::string path;
            for (const std::string& scope : scopes_) path += scope + ".";
            path += name;
            until_end();
            if (!vcd_.variables.emplace(path, Vcd::Variable{type, {}}).second)
                fail("two variables " + path);
            if (!by_id_.emplace(id, &vcd_.variables.at(path)).second) fail("two ids " + id);
        } else if (keyword == "$timescale") {
            vcd_.timescale = until_end();
        } else if (keyword == "$comment" || keyword == "$date" || keyword == "$version") {
            until_end();
        } else {
            fail("no keyword: " + keyword);
        }
    }
    void change(const std::string& first) {
        if (first == "$comment") return void(until_end());
        if (first == "$dumpvars" || first == "$end") return;
        if (first[0] == '#') {
            const std::uint64_t time = std::stoull(first.substr(1));
            if (has_time_ && time <= vcd_.end) fail("time goes back at " + first);
            has_time_ = true;
            vcd_.end = time;
            return;
        }
        const bool is_scalar = std::string("01xzXZ").find(first[0]) != std::string::npos;
        std::string id = first.substr(1), value = first.substr(0, 1);
        if (!is_scalar) {
            if (std::string("brsBR").find(first[0]) == std::string::npos) fail("value " + first);
            value = first.substr(1);
            in_ >> id;
        }
        const auto found = by_id_.find(id);
        if (found == by_id_.end()) fail("no variable " + id + " for " + first);
        if ((found->second->type == "string") != (first[0] == 's')) fail("wrong type: " + first);
        found->second->values.emplace_back(vcd_.end, plain(value));
    }
    static std::string plain(const std::string& escaped) {
        std::string text;
        for (std::size_t i = 0; i < escaped.size(); ++i) {
            if (escaped[i] == '\\') {
                text += static_cast<char>(std::stoi(escaped.substr(i + 2, 2), nullptr, 16));
                i += 3;
            } else {
                text += escaped[i];
            }
        }
        return text;
    }

    std::istringstream in_;
    Vcd vcd_;
    std::vector<std::string> scopes_;
    std::map<std::string, Vcd::Variable*> by_id_;
    bool has_time_ = false;
};

}  // namespace

std::string Vcd::Variable::at(std::uint64_t time) const {
    std::string value;
    for (const auto& [from, what] : values)
        if (from <= time) value = what;
    return value;
}

Vcd Vcd::parse(const std::string& text) {
    return Parser(text).parse();
}

Vcd Vcd::read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + " cannot be read");
    return parse({std::istreambuf_iterator<char>(file), {}});
}

}  // namespace lockstep
