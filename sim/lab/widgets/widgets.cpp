// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/widgets/widgets.h"

#include <fmt/format.h>

#include <vector>

#include "sim/config/value.h"
#include "sim/error/error.h"

namespace lockstep::lab {

namespace {

const WidgetRow kWidgets[] = {
    {"gradient", "values and gradients of a small network", gradients_by_hand},
    {"warp", "a warp's instructions over time, with lanes, control bits and waits", warp_over_time},
    {"warp_access", "sectors, banks and wavefronts of a warp's addresses", warp_access},
    {"systolic", "the wires of each PE of a systolic array by cycle", systolic_wires},
    {"tensor_core", "a dot product of the Tensor Core by generation, bit by bit", tensor_dot},
    {"tensor_core_vcd", "the waveform of its 4 x 4 step", tensor_vcd},
    {"fragments", "which lane and register holds which element of mma's matrices", mma_fragments},
    {"roofline", "peaks and bandwidth of machines", machine_roofs},
};

}  // namespace

std::string widget_answer(const std::string& name, const std::string& request) {
    std::vector<std::string> names;
    for (const WidgetRow& row : kWidgets) {
        names.emplace_back(row.name);
        if (name != row.name) continue;
        try {
            const auto json = nlohmann::json::parse(request);
            if (!json.is_object()) throw InputError("wanted an object");
            return row.answer(json).dump();
        } catch (const nlohmann::json::exception& error) {
            throw InputError(error.what());
        }
    }
    throw InputError(fmt::format("no widget '{}'{}", name, config::did_you_mean(name, names)));
}

}  // namespace lockstep::lab
