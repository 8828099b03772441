// SPDX-License-Identifier: Apache-2.0
#include "models/energy/events.h"

#include <deque>

namespace lockstep::energy {

namespace {

/// Text that lives as long as the program: entries hold views.
std::string_view keep(std::string text) {
    static std::deque<std::string> texts;
    return texts.emplace_back(std::move(text));
}

config::Entry price(std::string path, std::string_view unit, double maximum, std::string meaning) {
    return {.path = keep(std::move(path)),
            .type = config::Type::kNumber,
            .unit = unit,
            .minimum = 0,
            .maximum = maximum,
            .meaning = keep(std::move(meaning)),
            .is_reporting_only = true,
            .is_optional = true};
}

}  // namespace

double Counts::operator[](std::string_view metric) const {
    for (const auto& [name, value] : metrics_)
        if (name == metric) return value.as_double();
    return 0;
}

bool Counts::has(std::string_view metric) const {
    for (const auto& [name, value] : metrics_)
        if (name == metric) return true;
    return false;
}

std::vector<config::Entry> entries_of(const Tables& tables) {
    constexpr double kMostPicojoules = 1e9, kMostWatts = 1e5, kMostArea = 1e4;
    std::vector<config::Entry> entries{
        price("energy.constant_power", "W", kMostWatts,
              "power while it runs, whatever it does: leakage, clocks, fans, memory's refresh"),
        price("energy.leakage", "W", 100, "power that a mm2 of area.* leaks"),
        price("energy.power_limit", "W", kMostWatts,
              "what the board may draw for long: its thermal design power"),
        price("energy.uncertainty", "1", 10,
              "by how much energies may be off, as a share: from measurements of known work")};
    for (const Event& event : tables.events) {
        const std::string path = "energy." + std::string(event.name);
        entries.push_back(price(path + ".control", "pJ", kMostPicojoules,
                                std::string(event.meaning) + ", whatever its values"));
        entries.push_back(price(path + ".data", "pJ", kMostPicojoules,
                                std::string(event.meaning) + ", what random values add"));
    }
    for (const Part& part : tables.parts)
        entries.push_back(
            price("area." + std::string(part.name), "mm2", kMostArea, std::string(part.meaning)));
    return entries;
}

}  // namespace lockstep::energy
