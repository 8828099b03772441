// SPDX-License-Identifier: Apache-2.0
// A lab in the terminal: explains, runs the commands, asks and checks.
#pragma once

#include <istream>

#include "sim/lab/library.h"
#include "sim/lab/service.h"

namespace lockstep::lab {

/// Reads answers from `input` until it ends; an empty line passes a question by. Returns how many
/// were right.
int work_through(const KeyedLab& lab, Service& service, std::istream& input);

/// Prints questions with their answers and explanations.
void print_key(const KeyedLab& lab, Service& service);

void print_list(const Library& library);

}  // namespace lockstep::lab
