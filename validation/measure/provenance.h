// SPDX-License-Identifier: Apache-2.0
// Who measured what on which card.
#pragma once

#include <string>
#include <vector>

#include "validation/measure/driver.h"
#include "validation/measure/record.h"

namespace lockstep::validation {

/// The machine whose name stands in the GPU's as whole words: `NVIDIA GeForce RTX 3090` is rtx3090,
/// but `NVIDIA GH200 480GB` is no h200. Throws InputError where there is none.
std::string machine_of(const std::string& gpu);

/// What driver, management library and clock say. `machine`: by the GPU's name where it is empty.
Provenance provenance_of(const Driver& driver, const std::string& management_library,
                         const std::string& machine);

/// What of the card's state makes measurements doubtful, in words; nothing: it is as it should be.
std::vector<std::string> doubts(const Provenance& provenance);

}  // namespace lockstep::validation
