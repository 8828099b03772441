// SPDX-License-Identifier: Apache-2.0
#include "models/device.h"

namespace lockstep {

std::unique_ptr<Device> make_simulator(std::shared_ptr<const config::Machine>,
                                       const DeviceOptions&) {
    throw InputError("cycle mode is not there yet: add --mode emulate");
}

}  // namespace lockstep
