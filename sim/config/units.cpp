// SPDX-License-Identifier: Apache-2.0
#include "sim/config/units.h"

namespace lockstep::config {

namespace {

struct Multiple {
    std::string_view unit, canonical;
    double factor;
};

constexpr Multiple kMultiples[] = {
    {"KiB", "B", 1024.0},       {"MiB", "B", 1048576.0},
    {"GiB", "B", 1073741824.0}, {"GB", "B", 1e9},
    {"GHz", "MHz", 1e3},        {"kHz", "MHz", 1e-3},
    {"Hz", "MHz", 1e-6},        {"TB/s", "GB/s", 1e3},
    {"MB/s", "GB/s", 1e-3},     {"GiB/s", "GB/s", 1.073741824},
    {"us", "ns", 1e3},          {"ps", "ns", 1e-3},
};

}  // namespace

std::optional<double> conversion(std::string_view unit, std::string_view canonical) {
    if (unit == canonical) return 1.0;
    for (const Multiple& multiple : kMultiples)
        if (multiple.unit == unit && multiple.canonical == canonical) return multiple.factor;
    return std::nullopt;
}

}  // namespace lockstep::config
