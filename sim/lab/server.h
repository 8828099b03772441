// SPDX-License-Identifier: Apache-2.0
// The labs on 127.0.0.1.
#pragma once

#include <functional>

#include "sim/lab/api.h"

namespace lockstep::lab {

/// Answers until SIGINT or SIGTERM. `port` 0: any that is free. `begun` is told the port. Throws
/// InputError where the port is taken.
void serve(const Library& library, Service& service, unsigned short port,
           const std::function<void(unsigned short)>& begun);

}  // namespace lockstep::lab
