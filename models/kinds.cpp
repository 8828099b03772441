// SPDX-License-Identifier: Apache-2.0
// The kinds of machines: a row each.
#include "models/energy/events.h"
#include "models/gpu/device/parameter_rows.h"
#include "models/gpu/device/settle.h"
#include "models/host/parameter_rows.h"
#include "models/npu/parameter_rows.h"
#include "models/roofline/parameter_rows.h"
#include "models/tpu/parameter_rows.h"
#include "models/tpu/systolic/parameter_rows.h"
#include "sim/config/schema.h"

namespace lockstep {

namespace {

struct KindRow {
    std::string_view name;
    std::vector<config::Entry> (*entries)();
    energy::Tables (*energy)() = nullptr;         ///< null: its energy is not known
    void (*settle)(config::Settings&) = nullptr;  ///< as config::Kind has it
};

constexpr KindRow kRows[] = {
    {"gpu", gpu::parameter_entries, energy::gpu_tables, gpu::settle},
    {"tpu", tpu::parameter_entries, energy::tpu_tables},
    {"npu", npu::parameter_entries, energy::npu_tables},
    {"systolic", tpu::array_entries},
    {"roofline", roofline::parameter_entries},
    {"host", host::parameter_entries},
};

config::Kind kind_of(const KindRow& row) {
    config::Kind kind{row.name, row.entries(), row.settle};
    if (row.energy != nullptr) {
        const std::vector<config::Entry> prices = energy::entries_of(row.energy());
        kind.entries.insert(kind.entries.end(), prices.begin(), prices.end());
    }
    return kind;
}

}  // namespace

std::span<const config::Kind> config::kinds() {
    static const std::vector<Kind> kKinds = [] {
        std::vector<Kind> kinds;
        for (const KindRow& row : kRows) kinds.push_back(kind_of(row));
        return kinds;
    }();
    return kKinds;
}

energy::Tables energy::tables_of(std::string_view kind) {
    for (const KindRow& row : kRows)
        if (row.name == kind && row.energy != nullptr) return row.energy();
    return {};
}

}  // namespace lockstep
