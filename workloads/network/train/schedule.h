// SPDX-License-Identifier: Apache-2.0
// The learning rate from step to step.
#pragma once

#include <cstdint>
#include <string_view>

namespace lockstep::network {

struct Schedule {
    enum class Kind : std::uint8_t { kConstant, kStep, kCosine };
    Kind kind = Kind::kConstant;
    double rate = 0.05;         ///< the highest
    std::uint64_t warm_up = 0;  ///< steps in which it rises in a line, before anything else
    std::uint64_t length = 1;   ///< steps in all (the trainer's); cosine: when it ends
    std::uint64_t every = 1;    ///< step: falls after so many steps (the trainer: a third of them)
    double factor = 0.1;        ///< step: to this share
    double last = 0;            ///< cosine: the share of the rate that it ends at

    /// Of step `step`, from 1.
    double at(std::uint64_t step) const;
};

/// "constant", "step" or "cosine". InputError.
Schedule::Kind schedule_named(std::string_view name);

}  // namespace lockstep::network
