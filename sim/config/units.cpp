// SPDX-License-Identifier: Apache-2.0
#include "sim/config/units.h"

namespace lockstep::config {

namespace {

struct Multiple {
    std::string_view unit, canonical;
    double factor;
};

constexpr Multiple kMultiples[] = {
    {"KiB", "B", 1024.0},  {"MiB", "B", 1048576.0}, {"GiB", "B", 1073741824.0},
    {"kB", "B", 1e3},      {"MB", "B", 1e6},        {"GB", "B", 1e9},
    {"GHz", "MHz", 1e3},   {"kHz", "MHz", 1e-3},    {"Hz", "MHz", 1e-6},
    {"TB/s", "GB/s", 1e3}, {"MB/s", "GB/s", 1e-3},  {"GiB/s", "GB/s", 1.073741824},
    {"fJ", "pJ", 1e-3},    {"nJ", "pJ", 1e3},       {"mW", "W", 1e-3},
    {"us", "ns", 1e3},     {"ps", "ns", 1e-3},
};

}  // namespace

std::optional<double> conversion(std::string_view unit, std::string_view canonical) {
    if (unit == canonical) return 1.0;
    for (const Multiple& multiple : kMultiples)
        if (multiple.unit == unit && multiple.canonical == canonical) return multiple.factor;
    return std::nullopt;
}

std::optional<double> to_canonical(std::string_view unit) {
    for (const Multiple& multiple : kMultiples) {
        if (multiple.unit == unit) return multiple.factor;
        if (multiple.canonical == unit) return 1.0;
    }
    return std::nullopt;
}

std::vector<std::string_view> units_of(std::string_view canonical) {
    std::vector<std::string_view> list{canonical};
    for (const Multiple& multiple : kMultiples)
        if (multiple.canonical == canonical) list.push_back(multiple.unit);
    return list;
}

std::string units_for(std::string_view canonical) {
    if (canonical == "1") return "a number without a unit";
    if (canonical == "B") return "B, KiB, MiB, GiB (of 1024) or kB, MB, GB (of 1000)";
    std::string list(canonical);
    for (const Multiple& multiple : kMultiples)
        if (multiple.canonical == canonical) list += " or " + std::string(multiple.unit);
    return list;
}

}  // namespace lockstep::config
