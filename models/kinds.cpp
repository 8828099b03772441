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

namespace lockstep::config {

namespace {

std::vector<Entry> with_prices(std::vector<Entry> entries, const energy::Tables& tables) {
    const std::vector<Entry> prices = energy::entries_of(tables);
    entries.insert(entries.end(), prices.begin(), prices.end());
    return entries;
}

}  // namespace

std::span<const Kind> kinds() {
    static const Kind kKinds[] = {
        {"gpu", with_prices(gpu::parameter_entries(), energy::gpu_tables()), gpu::settle},
        {"tpu", with_prices(tpu::parameter_entries(), energy::tpu_tables())},
        {"npu", with_prices(npu::parameter_entries(), energy::npu_tables())},
        {"systolic", tpu::array_entries()},
        {"roofline", roofline::parameter_entries()},
        {"host", host::parameter_entries()},
    };
    return kKinds;
}

}  // namespace lockstep::config
