// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/device/described_modules.h"

#include "isa/sass/program.h"

namespace lockstep::gpu {

const DescribedModule& DescribedModules::of(ModuleHandle handle, const sass::Launch& launch) {
    const auto [at, is_new] = modules_.try_emplace(handle, parameters_);
    DescribedModule& module = at->second;
    if (is_new) {
        // The driver puts code and constants into device memory; where, does not matter here, but
        // that modules do not share lines. Their bytes live elsewhere.
        constexpr std::uint64_t kAlignment = 65536;
        const std::uint64_t code =
            (launch.program->code().size() * sass::Word::kBytes / kAlignment + 1) * kAlignment;
        loaded_ = (loaded_ + code + kConstantBytes) % (memory_ / 2);
        module.code_address = (memory_ - loaded_) / kAlignment * kAlignment;
        module.constant_address = module.code_address + code;
    }
    for (const sass::Program::Function& function : launch.program->functions()) {
        const bool may_run = !function.is_kernel || function.first == launch.entry;
        if (!function.bound || !may_run || !module.functions.insert(function.first).second)
            continue;
        module.table.describe(*launch.program, function.first, function.count);
    }
    return module;
}

}  // namespace lockstep::gpu
