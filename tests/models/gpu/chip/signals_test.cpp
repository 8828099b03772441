// SPDX-License-Identifier: Apache-2.0
// The names that sim/engine/systemc.md lists are found in a chip.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <systemc>

#include "models/device.h"
#include "models/gpu/chip/tlm_edges.h"
#include "tests/paths.h"

namespace lockstep::gpu {
namespace {

std::string kind_on_page(const std::string& kind) {
    if (kind == "sc_signal") return "signal";
    if (kind == "sc_module") return "module";
    if (kind == "lockstep_sender" || kind == "lockstep_receiver") return "port";
    return kind == "lockstep_channel" ? "channel" : kind;
}

TEST(Signals, ThePageListsNamesThatAreFound) {
    DeviceOptions options;
    options.trace.signals = true;
    const auto gpu = make_simulator(config::Machine::load("h200", {"sm.count=2"}), options);
    const TlmEdges chip(*gpu, 0);  // makes it
    std::ifstream page(source_path("sim/engine/systemc.md"));
    int names = 0;
    bool is_list = false;
    for (std::string line; std::getline(page, line);) {
        is_list = is_list || line.starts_with("## Names");
        if (!is_list || !line.starts_with("| `")) continue;
        std::istringstream columns(line.substr(1));
        std::string first, kind;
        std::getline(columns, first, '|');
        std::getline(columns, kind, '|');
        kind = kind.substr(1, kind.size() - 2);
        const std::regex quoted("`([^`]+)`");
        std::string whole;
        for (std::sregex_iterator at(first.begin(), first.end(), quoted), end; at != end; ++at) {
            const std::string name = (*at)[1];
            whole = name[0] == '.' ? whole.substr(0, whole.rfind('.')) + name : name;
            const sc_core::sc_object* const object =
                sc_core::sc_find_object(("h200." + whole).c_str());
            ASSERT_NE(object, nullptr) << whole;
            EXPECT_EQ(kind_on_page(object->kind()), kind) << whole;
            ++names;
        }
    }
    EXPECT_GE(names, 20);
}

TEST(Signals, NoneWhereTheyAreNotAskedFor) {
    const auto gpu = make_simulator(config::Machine::load("h200", {"sm.count=2"}), {});
    const TlmEdges chip(*gpu, 0);
    EXPECT_NE(sc_core::sc_find_object("h200.sm0"), nullptr);
    EXPECT_EQ(sc_core::sc_find_object("h200.sm0.requests0"), nullptr);
    EXPECT_EQ(sc_core::sc_find_object("h200.sm0.sub_core0"), nullptr);
}

}  // namespace
}  // namespace lockstep::gpu
