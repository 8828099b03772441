// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/describe.h"

#include <fmt/format.h>

#include "sim/numerics/integer.h"

namespace lockstep::network::npu_code {

void describe(const std::vector<Step>& steps, const Plan& plan, const NpuTarget& target,
              const Group& group, NpuLayer& layer) {
    const Step &head = steps[group.first], &end = steps[group.last];
    const auto text = [](const Layout& l) { return fmt::format("{}x{}x{}", l.h, l.w, l.c); };
    if (head.input.value != kNoValue) layer.shape = text(head.input.box) + " -> ";
    layer.shape += text(end.output.box);
    const auto kept = [&](const Part& part, const char* letter) {
        if (part.value != kNoValue && plan.places.at(part.value).home == Home::kSram)
            layer.kept += letter;
    };
    kept(head.input, "i");
    for (std::size_t s = group.first; s <= group.last; ++s) kept(steps[s].operand, "+");
    kept(end.output, "o");
    double macs = 0, lanes = 0, outputs = 0;
    for (std::size_t s = group.first; s <= group.last; ++s) {
        const Step& step = steps[s];
        if (!step.is_product() && !step.is_matrix_product()) continue;
        layer.weight_bits = static_cast<int>(
            isa::bits_of(step.is_matrix_product() ? step.operand.box.type : step.weight_type));
        layer.input_bits = static_cast<int>(isa::bits_of(step.input.box.type));
        const bool depthwise = step.opcode == isa::Opcode::kDepthwise;
        const std::int64_t depth =
            depthwise ? step.window.height * step.window.width : step.input.box.c / step.groups;
        const std::int64_t inputs = depthwise ? target.depthwise_taps : target.array_inputs;
        const std::int64_t k = step.output_channels() / step.groups;
        const auto use = [](std::int64_t n, std::int64_t unit) {
            return static_cast<double>(n) / static_cast<double>(numerics::round_up(n, unit));
        };
        const auto weight = static_cast<double>(step.macs);
        macs += weight;
        lanes += weight * use(depth, inputs) *
                 (depthwise ? static_cast<double>(inputs) / target.array_inputs : 1);
        outputs += weight * use(k, target.array_outputs);
    }
    if (macs == 0) return;
    layer.lane_use = lanes / macs;
    layer.output_use = outputs / macs;
}

}  // namespace lockstep::network::npu_code
