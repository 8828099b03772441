// SPDX-License-Identifier: Apache-2.0
// What pictures show that statistics do not have, from the real models. Each answers a JSON object
// with one, and runs in a process of its own (`lockstep lab --widget NAME`), as the models want.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::lab {

using WidgetFunction = nlohmann::ordered_json (*)(const nlohmann::json& request);

struct WidgetRow {
    const char* name;
    const char* meaning;
    WidgetFunction answer;
};

/// Of widgets.cpp. Throws InputError with the nearest name; and with what is wrong in `request`.
std::string widget_answer(const std::string& name, const std::string& request);

nlohmann::ordered_json gradients_by_hand(const nlohmann::json& request);
nlohmann::ordered_json systolic_wires(const nlohmann::json& request);
nlohmann::ordered_json warp_over_time(const nlohmann::json& request);
nlohmann::ordered_json warp_access(const nlohmann::json& request);
nlohmann::ordered_json tensor_dot(const nlohmann::json& request);
nlohmann::ordered_json tensor_vcd(const nlohmann::json& request);
nlohmann::ordered_json mma_fragments(const nlohmann::json& request);
nlohmann::ordered_json machine_roofs(const nlohmann::json& request);

}  // namespace lockstep::lab
