// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "models/gpu/chip/chip.h"
#include "models/system/system.h"

namespace lockstep::gpu {

/// A part of a chip with what it belongs to.
struct ChipPart {
    ChipPart(std::shared_ptr<const config::Machine> given, const DeviceOptions& options)
        : machine(std::move(given)),
          parameters(*machine),
          system({.name = machine->name() + "_part",
                  .threads = options.threads,
                  .shuffle = options.shuffle,
                  .slowest_cycle =
                      engine::ClockDomain::from_megahertz(parameters.clock_mhz).start_of(1)}),
          chip(system.simulation(), *machine, parameters, options) {}
    const std::shared_ptr<const config::Machine> machine;
    const SmParameters parameters;
    system::System system;
    Chip chip;
};

}  // namespace lockstep::gpu
