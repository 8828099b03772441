// SPDX-License-Identifier: Apache-2.0
// What a data sheet says of a machine, whatever its kind: units, clock, peaks, memory, power.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/machine.h"

namespace lockstep {

struct DataSheet {
    struct Peak {
        std::string_view precision;  ///< fp64, fp32, tf32, bf16, fp16, fp8, int8, int4
        double operations = 0;       ///< a second, dense; a multiply-add counts twice
    };

    std::string units;        ///< "132 SMs of 128 lanes", "2 arrays of 128x128"; "": unknown
    double clock = 0;         ///< Hz
    std::vector<Peak> peaks;  ///< of products, widest precision first; those it has units for
    double memory = 0;        ///< bytes; 0: unknown
    double bandwidth = 0;     ///< bytes a second
    double power = 0;         ///< W that it may draw for long; 0: unknown

    /// 0 where there are no units for the precision.
    double peak(std::string_view precision) const;
    double most() const;
    /// 16 bits where they are faster than fp32, bf16 first; else fp32; "" where there is neither.
    std::string_view usual_float() const;
};

/// Of a machine of any kind; what the kind has no parameter for is 0.
DataSheet data_sheet(const config::Machine& machine);

// Of a machine of the kind that the name says (rows of models/kinds.cpp).
DataSheet gpu_sheet(const config::Machine& machine);
DataSheet tpu_sheet(const config::Machine& machine);
DataSheet npu_sheet(const config::Machine& machine);
DataSheet systolic_sheet(const config::Machine& machine);
DataSheet roofline_sheet(const config::Machine& machine);
DataSheet host_sheet(const config::Machine& machine);

}  // namespace lockstep
