// SPDX-License-Identifier: Apache-2.0
// What a section of a cubin is: its name says it.
#pragma once

#include <string_view>

#include "isa/cubin/cubin.h"

namespace lockstep::cubin {

struct SectionName {
    SectionKind kind = SectionKind::kOther;
    uint32_t bank = 0;          ///< of a kConstant
    std::string_view function;  ///< that it belongs to; empty: the module
};

/// Takes apart a name such as .text.f, .nv.constant2.f, .nv.global.init.
SectionName classify(std::string_view name);

}  // namespace lockstep::cubin
