// SPDX-License-Identifier: Apache-2.0
// Checks what a student answered against the key, by the real models where the key says so.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/lab/lab.h"
#include "workloads/sweep/result.h"

namespace lockstep::lab {

/// Runs "gemm:m=8 --on systolic" and gives its metrics; throws InputError.
using MetricsOf = std::function<sweep::Result(const std::string& run)>;

struct Verdict {
    bool is_right = false;
    std::string text;  ///< Markdown: why, or a hint
};

/// `given`: a number or its text; a choice's id; a list of such; a text. Throws InputError where it
/// is none of these, or a run of the key fails.
Verdict check(const Question& question, const Answer& answer, const nlohmann::json& given,
              const MetricsOf& metrics);

/// What is right, as check() takes it.
nlohmann::json right_answer(const Question& question, const Answer& answer,
                            const MetricsOf& metrics);

/// The explanation with its formulas in {= } filled in.
std::string explanation(const Answer& answer, const MetricsOf& metrics);

/// What the key says of the models and does not hold ("holds"). Throws InputError with the place.
void check_claims(const Answer& answer, const MetricsOf& metrics);

}  // namespace lockstep::lab
