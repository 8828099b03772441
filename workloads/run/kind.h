// SPDX-License-Identifier: Apache-2.0
// The kinds of machines: what each runs, and with which options. A new kind is a row in kinds.cpp.
#pragma once

#include <span>
#include <string_view>

#include "workloads/run/job.h"
#include "workloads/run/subject.h"

namespace lockstep::run {

/// One thing that a kind of machine runs.
struct Way {
    SubjectKind subject;
    std::string_view options;       ///< that only this way takes, as "--grid --block"
    std::string_view needs_values;  ///< options that mean nothing with --no-values
    Outcome (*run)(const Job& job, const Subject& subject, const MachinePtr& machine,
                   Screen& screen);
    /// The same with --train; null: the subject, or the machine, does not train.
    Outcome (*train)(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen) = nullptr;
};

/// What every way that trains takes; all but --train mean nothing without it.
inline constexpr std::string_view kOfTraining =
    "--train --accuracy --batch --checkpoint --checkpoint-every --clip-norm --data --epochs "
    "--learning-rate --loss --loss-scale --mixed --momentum --nesterov --optimiser --recompute "
    "--resume --schedule-rate --steps --test-examples --train-examples --warm-up --weight-decay";

struct Kind {
    std::string_view name;     ///< as machine files say it
    std::string_view phrase;   ///< "a GPU"
    std::string_view example;  ///< a machine of the kind
    std::string_view options;  ///< that all its ways take
    std::string_view traces;   ///< endings of its trace files, as ".json .kanata"
    std::span<const Way> ways;
    std::string_view no_training = "";  ///< why its machines train no network
};

std::span<const Kind> kinds();
/// Throws InternalError where a machine file's kind has no row.
const Kind& kind_of(const config::Machine& machine);

/// The way in which machines of this kind run the subject. Throws InputError that names the
/// machines which would.
const Way& find_way(const Job& job, const Subject& subject, const config::Machine& machine);

/// Throws InputError where an option that was given means nothing to this way, or not together with
/// another.
/// Whether the option means something to what runs this way on the machine.
bool takes(std::string_view option, const Way& way, const config::Machine& machine);

void check_options(const Job& job, const Way& way, const config::Machine& machine);

}  // namespace lockstep::run
