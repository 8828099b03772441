// SPDX-License-Identifier: Apache-2.0
// What timing needs of the code of loaded modules.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "isa/sass/state.h"
#include "models/device.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

struct DescribedModule {
    explicit DescribedModule(const SmParameters& parameters) : table(parameters) {}
    StaticTable table;
    std::set<std::uint32_t> functions;  ///< code indices of those that it holds
    std::uint64_t code_address = 0, constant_address = 0;
};

class DescribedModules {
  public:
    /// Room for a module's constants.
    static constexpr std::uint64_t kConstantBytes = 8 * 65536;

    /// `memory`: bytes of the device's.
    DescribedModules(const SmParameters& parameters, std::uint64_t memory)
        : parameters_(parameters), memory_(memory) {}
    /// With what the launch may run of it.
    const DescribedModule& of(ModuleHandle module, const sass::Launch& launch);
    void forget(ModuleHandle module) { modules_.erase(module); }

  private:
    const SmParameters& parameters_;
    const std::uint64_t memory_;
    std::map<ModuleHandle, DescribedModule> modules_;
    std::uint64_t loaded_ = 0;  ///< bytes of code and constants, from the end of memory down
};

}  // namespace lockstep::gpu
