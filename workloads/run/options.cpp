// SPDX-License-Identifier: Apache-2.0
// Which options each kind of machine takes, by the rows of kinds.cpp; an option that has no meaning
// is an error that names where it has one, never ignored.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "workloads/run/kind.h"

namespace lockstep::run {

namespace {

/// What every way takes.
constexpr std::string_view kCommon =
    "--on --mode --set --stats --html --threads --seed --quiet --screen --color";
/// What shows or sets how the time goes by.
constexpr std::string_view kOfCycleMode =
    "--source --trace --trace-window --trace-sms --l2 --launch-skip --launch-count --energy "
    "--power-cap --sample --launches";

std::vector<std::string_view> words(std::string_view list) {
    std::vector<std::string_view> result;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        result.push_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return result;
}

bool has(std::string_view list, std::string_view word) {
    const auto all = words(list);
    return std::find(all.begin(), all.end(), word) != all.end();
}

std::string either(const std::vector<std::string_view>& list) {
    std::vector<std::string_view> seen;
    for (const std::string_view word : list)
        if (std::find(seen.begin(), seen.end(), word) == seen.end()) seen.push_back(word);
    return fmt::format("{}", fmt::join(seen, " or "));
}

bool takes(const Way& way, std::string_view option) {
    return has(way.options, option) || (way.train != nullptr && has(kOfTraining, option));
}

/// The things that machines of a kind run with this option.
std::vector<std::string_view> subjects_of(const Kind& kind, std::string_view option) {
    std::vector<std::string_view> subjects;
    for (const Way& way : kind.ways)
        if (takes(way, option)) subjects.push_back(phrase_of(way.subject));
    return subjects;
}

[[noreturn]] void refuse(const Job& job, const std::string& option, const Way& way,
                         const config::Machine& machine) {
    if (option == "arguments")
        throw InputError(fmt::format("'{}': {} is {}, which takes no arguments",
                                     job.arguments.front(), job.what, phrase_of(way.subject)));
    std::vector<std::string_view> elsewhere, kinds_elsewhere;
    for (const Kind& kind : kinds()) {
        const auto subjects = subjects_of(kind, option);
        elsewhere.insert(elsewhere.end(), subjects.begin(), subjects.end());
        if (!subjects.empty() || has(kind.options, option)) kinds_elsewhere.push_back(kind.phrase);
    }
    const Kind& own = kind_of(machine);
    if (option == "--train" && way.subject == SubjectKind::kNetwork && !own.no_training.empty())
        throw InputError(fmt::format("--train: {} is {}, {}; {} trains", machine.name(), own.phrase,
                                     own.no_training, either(kinds_elsewhere)));
    if (const auto subjects = subjects_of(own, option); !subjects.empty())
        throw InputError(fmt::format("{} is for {}; {} is {}", option, either(subjects), job.what,
                                     phrase_of(way.subject)));
    throw InputError(fmt::format("{} is for {}{}{}; {} is {}", option, either(elsewhere),
                                 elsewhere.empty() ? "" : " on ", either(kinds_elsewhere),
                                 machine.name(), own.phrase));
}

void check_trace(const Job& job, const config::Machine& machine) {
    if (job.trace_file.empty()) {
        if (!job.trace_window.empty() || !job.trace_sms.empty())
            throw InputError(fmt::format("{} needs --trace FILE",
                                         job.trace_sms.empty() ? "--trace-window" : "--trace-sms"));
        return;
    }
    const Kind& kind = kind_of(machine);
    const auto endings = words(kind.traces);
    if (std::any_of(endings.begin(), endings.end(),
                    [&](std::string_view ending) { return job.trace_file.ends_with(ending); }))
        return;
    throw InputError(fmt::format("--trace {}: the trace of {} ends in {}", job.trace_file,
                                 kind.phrase, fmt::join(endings, " or ")));
}

}  // namespace

const Way& find_way(const Job& job, const Subject& subject, const config::Machine& machine) {
    const Kind& own = kind_of(machine);
    for (const Way& way : own.ways)
        if (subject.is(way.subject)) return way;
    std::vector<std::string_view> phrases, examples;
    for (const Kind& kind : kinds())
        for (const Way& way : kind.ways)
            if (subject.is(way.subject)) {
                phrases.push_back(kind.phrase);
                examples.push_back(kind.example);
            }
    throw InputError(fmt::format("{} is {}, which runs on {} (--on {}); {} is {}", job.what,
                                 phrase_of(subject.kinds.front()), either(phrases),
                                 examples.front(), machine.name(), own.phrase));
}

bool takes(std::string_view option, const Way& way, const config::Machine& machine) {
    return has(kCommon, option) || has(kind_of(machine).options, option) || takes(way, option);
}

void check_options(const Job& job, const Way& way, const config::Machine& machine) {
    std::vector<std::string> given = job.given;
    if (!job.arguments.empty()) given.push_back("arguments");
    for (const std::string& option : given) {
        if (!takes(option, way, machine)) refuse(job, option, way, machine);
        if (has(kOfTraining, option) && job.training == nullptr)
            throw InputError(fmt::format("{} needs --train", option));
        if (has(kOfCycleMode, option) && job.mode != Mode::kCycle)
            throw InputError(fmt::format("{} needs --mode cycle: emulation has no time", option));
        if (job.no_values && has(way.needs_values, option))
            throw InputError(fmt::format("{} needs values; --no-values has none", option));
    }
    if (job.no_values && job.training != nullptr)
        throw InputError("--train computes values; --no-values has none");
    if (job.no_values && job.mode == Mode::kEmulate)
        throw InputError("--mode emulate computes values; --no-values has none");
    check_trace(job, machine);
}

}  // namespace lockstep::run
