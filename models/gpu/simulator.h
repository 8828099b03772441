// SPDX-License-Identifier: Apache-2.0
// The cycle model of a GPU: the emulator's answers, in time. Launches that are not selected are
// emulated in the same memory.
#pragma once

#include <set>

#include "models/gpu/chip.h"
#include "models/gpu/emulator/emulator.h"
#include "models/gpu/launch_selection.h"

namespace lockstep::gpu {

class Simulator : public Emulator {
  public:
    Simulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options);
    ~Simulator() override;

    void unload_module(ModuleHandle module) override;
    LaunchResult launch(const LaunchRequest& request) override;

  private:
    struct DescribedModule {
        explicit DescribedModule(const SmParameters& parameters) : table(parameters) {}
        StaticTable table;
        std::set<std::uint32_t> functions;  ///< code indices of those that it holds
        std::uint64_t code_address = 0, constant_address = 0;
    };

    /// What timing needs of the code that the kernel may run.
    const DescribedModule& described(const LaunchRequest& request, const sass::Launch& launch);

    LaunchResult simulate(const LaunchRequest& request);

    const SmParameters parameters_;
    LaunchSelection selection_;
    std::unique_ptr<Chip> chip_;  ///< made by the first launch; given up after a fault
    std::map<ModuleHandle, DescribedModule> described_;
    std::uint64_t loaded_ = 0;  ///< bytes of code and constants, from the end of memory down
};

}  // namespace lockstep::gpu
