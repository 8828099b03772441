// SPDX-License-Identifier: Apache-2.0
// --checkpoint, --checkpoint-every and --resume of a run that is no training: images of the whole
// process (sim/process/image.h). A training's are its own (workloads/run/train).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "workloads/run/job.h"

namespace lockstep::cli {

struct Checkpoints {
    std::string file, resume;  ///< "": none
    unsigned seconds = 60;     ///< of CPU time, between them
    bool is_every_given = false;

    bool are_wanted() const { return !file.empty() || !resume.empty() || is_every_given; }
    /// Whether the option is one of these, which change no result.
    bool has(std::string_view option) const {
        return are_wanted() &&
               (option == "--checkpoint" || option == "--checkpoint-every" || option == "--resume");
    }
};

Checkpoints checkpoints_of(const CLI::App& verb);

/// Does not return where this process starts anew with fixed addresses, or goes on from a
/// checkpoint. Throws InputError where the job cannot be kept.
void begin_checkpoints(const Checkpoints& wanted, const run::Job& job,
                       const std::string& html_file);

}  // namespace lockstep::cli
