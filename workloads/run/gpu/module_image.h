// SPDX-License-Identifier: Apache-2.0
// The code of a cubin or fatbin that a machine runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/cubin/cubin.h"
#include "sim/config/machine.h"

namespace lockstep::run {

class ModuleImage {
  public:
    /// Throws InputError where the bytes are no such file, or hold no code for the machine.
    /// `name`: of the file, for messages.
    ModuleImage(std::vector<std::uint8_t> bytes, const std::string& name,
                const config::Machine& machine);
    const cubin::Cubin& cubin() const { return cubin_; }

  private:
    std::vector<std::uint8_t> image_;
    cubin::Cubin cubin_;
};

}  // namespace lockstep::run
