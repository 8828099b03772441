// SPDX-License-Identifier: Apache-2.0
// Labs as the pages get them: without answers.
#pragma once

#include <nlohmann/json.hpp>

#include "sim/lab/library.h"

namespace lockstep::lab {

nlohmann::ordered_json list_json(const Library& library);
nlohmann::ordered_json lab_json(const Lab& lab);

}  // namespace lockstep::lab
