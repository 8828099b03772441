// SPDX-License-Identifier: Apache-2.0
// The kinds of machines, a row each: parameters, data sheet, energy. What runs on them and how is
// workloads/run/kinds.cpp.
#include <algorithm>

#include "models/data_sheet/data_sheet.h"
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
    DataSheet (*sheet)(const config::Machine&);
    energy::Tables (*energy)() = nullptr;         ///< null: its energy is not known
    void (*settle)(config::Settings&) = nullptr;  ///< as config::Kind has it
};

constexpr KindRow kRows[] = {
    {"gpu", gpu::parameter_entries, gpu_sheet, energy::gpu_tables, gpu::settle},
    {"tpu", tpu::parameter_entries, tpu_sheet, energy::tpu_tables},
    {"npu", npu::parameter_entries, npu_sheet, energy::npu_tables},
    {"systolic", tpu::array_entries, systolic_sheet},
    {"roofline", roofline::parameter_entries, roofline_sheet},
    {"host", host::parameter_entries, host_sheet},
};

const KindRow* row_of(std::string_view kind) {
    const auto found = std::ranges::find(kRows, kind, &KindRow::name);
    return found == std::end(kRows) ? nullptr : &*found;
}

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
    const KindRow* row = row_of(kind);
    return row != nullptr && row->energy != nullptr ? row->energy() : Tables{};
}

DataSheet data_sheet(const config::Machine& machine) {
    DataSheet sheet;
    if (const KindRow* row = row_of(machine.kind())) sheet = row->sheet(machine);
    if (sheet.power == 0 && machine.has("energy.power_limit"))
        sheet.power = machine.number("energy.power_limit");
    std::erase_if(sheet.peaks, [](const DataSheet::Peak& peak) { return peak.operations <= 0; });
    return sheet;
}

}  // namespace lockstep
