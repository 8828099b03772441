// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/config/value.h"
#include "sim/error/error.h"
#include "sim/lab/embedded.h"
#include "sim/lab/lab_file.h"

namespace lockstep::lab {

namespace fs = std::filesystem;

namespace {

/// How a course would go; labs that are not here follow by name.
const std::vector<std::string> kOrder = {"systolic", "tensor_core", "simt",    "memory",
                                         "roofline", "npu",         "training"};

std::string contents(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream || fs::is_directory(path))
        throw InputError(fmt::format("{}: cannot be read", path.string()));
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

}  // namespace

Library::Library() {
    const auto text_of = [](const std::string& path) {
        for (const EmbeddedFile& file : embedded_files())
            if (file.path == path) return std::string(file.bytes);
        throw InputError(fmt::format("sim/lab/{}: is missing", path));
    };
    for (const EmbeddedFile& file : embedded_files()) {
        const std::string path(file.path);
        if (!path.starts_with("labs/")) continue;
        const std::string key = "key/" + path.substr(5);
        add("sim/lab/" + path, std::string(file.bytes), "sim/lab/" + key, text_of(key));
    }
    sort();
}

Library::Library(const std::string& folder) {
    const fs::path labs = fs::path(folder) / "labs";
    if (!fs::is_directory(labs)) throw InputError(fmt::format("{}: no folder labs in it", folder));
    for (const auto& entry : fs::directory_iterator(labs)) {
        if (entry.path().extension() != ".yaml") continue;
        const fs::path key = fs::path(folder) / "key" / entry.path().filename();
        add(entry.path(), contents(entry.path()), key, contents(key));
    }
    if (labs_.empty()) throw InputError(fmt::format("{}: no lab in it", labs.string()));
    sort();
}

void Library::add(const std::string& lab_file, const std::string& lab_text,
                  const std::string& key_file, const std::string& key_text) {
    KeyedLab lab;
    lab.lab = read_lab(lab_file, lab_text);
    if (lab.lab.name != fs::path(lab_file).stem())
        throw InputError(
            fmt::format("{}: the file of lab {} is {}.yaml", lab_file, lab.lab.name, lab.lab.name));
    lab.key = read_key(key_file, key_text, lab.lab);
    labs_.push_back(std::move(lab));
}

void Library::sort() {
    const auto rank = [](const KeyedLab& lab) {
        const auto at = std::find(kOrder.begin(), kOrder.end(), lab.lab.name);
        return std::pair(at - kOrder.begin(), lab.lab.name);
    };
    std::sort(labs_.begin(), labs_.end(),
              [&](const KeyedLab& a, const KeyedLab& b) { return rank(a) < rank(b); });
}

const KeyedLab& Library::find(const std::string& name) const {
    std::vector<std::string> names;
    for (const KeyedLab& lab : labs_) {
        if (lab.lab.name == name) return lab;
        names.push_back(lab.lab.name);
    }
    throw InputError(
        fmt::format("no lab '{}'{} (lab --list)", name, config::did_you_mean(name, names)));
}

}  // namespace lockstep::lab
