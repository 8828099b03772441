// SPDX-License-Identifier: Apache-2.0
// The kinds of machines: a row each.
#include "models/gpu/parameter_rows.h"
#include "models/gpu/settle.h"
#include "models/npu/parameter_rows.h"
#include "models/tpu/parameter_rows.h"
#include "models/tpu/systolic/parameter_rows.h"
#include "sim/config/schema.h"

namespace lockstep::config {

std::span<const Kind> kinds() {
    static const Kind kKinds[] = {
        {"gpu", gpu::parameter_entries(), gpu::settle},
        {"tpu", tpu::parameter_entries()},
        {"npu", npu::parameter_entries()},
        {"systolic", tpu::array_entries()},
    };
    return kKinds;
}

}  // namespace lockstep::config
