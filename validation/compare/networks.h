// SPDX-License-Identifier: Apache-2.0
// Throughput of networks that others published, beside the roofline.
#pragma once

#include <vector>

#include "workloads/choose/choose.h"

namespace lockstep::validation {

/// What each published run reaches of its roofline.
std::vector<choose::Reached> reached_shares(choose::Phase phase);

}  // namespace lockstep::validation
