// SPDX-License-Identifier: Apache-2.0
// The suites that there are, each in a file of its own.
#pragma once

#include "validation/compare/suite.h"

namespace lockstep::validation {

Suite counters_suite();
Suite h200_suite();
Suite micro_suite();
Suite networks_suite();
Suite nvdla_suite();
Suite power_suite();
Suite sampling_suite();
Suite scalesim_suite();
Suite silicon_suite();
Suite tpu_measured_suite();
Suite tpu_paper_suite();
Suite tpu_v6e_suite();

}  // namespace lockstep::validation
