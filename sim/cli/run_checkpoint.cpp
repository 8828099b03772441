// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "sim/config/machine_text.h"
#include "sim/error/error.h"
#include "sim/process/image.h"
#include "sim/stats/sha256.h"
#include "sim/stats/statistics.h"
#include "workloads/run/run_check.h"
#include "workloads/run/subject.h"
#include "workloads/sweep/program_id.h"

namespace lockstep::cli {

namespace {

/// The command's words, without these options.
std::vector<std::string> words_of_run() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    bool skips = true;  // the program's own name
    for (std::string word; std::getline(file, word, '\0');) {
        const std::string option = word.substr(0, word.find('='));
        const bool is_ours =
            option == "--checkpoint" || option == "--checkpoint-every" || option == "--resume";
        if (!skips && !is_ours) words.push_back(word);
        skips = is_ours && option == word;  // its value is the next word
    }
    return words;
}

/// All that a run's course depends on, a line each.
std::string identity_of(const run::Job& job) {
    std::string text = "build " + sweep::program_id() + "\n";
    text += "folder " + std::filesystem::current_path().string() + "\n";
    text += fmt::format("machine {} {}\n", job.machine,
                        stats::sha256(config::machine_text(job.machine)));
    const run::Subject subject = run::identify(job.what);
    if (!subject.file.empty())
        text += fmt::format(
            "file {} {}\n", subject.file,
            stats::sha256(subject.bytes.empty() ? run::read_file(subject.file) : subject.bytes));
    for (const std::string& word : words_of_run()) text += "word " + word + "\n";
    return text;
}

void refuse(const std::string& what) {
    throw InputError("--checkpoint, --resume: " + what);
}

}  // namespace

Checkpoints checkpoints_of(const CLI::App& verb) {
    const auto text = [&verb](const char* name) {
        const CLI::Option* option = verb.get_option(name);
        return option->count() == 0 ? std::string() : option->results().back();
    };
    Checkpoints wanted;
    wanted.file = text("--checkpoint");
    wanted.resume = text("--resume");
    const std::string every = text("--checkpoint-every");
    wanted.is_every_given = !every.empty();
    if (wanted.is_every_given) wanted.seconds = static_cast<unsigned>(std::stoul(every));
    return wanted;
}

void begin_checkpoints(const Checkpoints& wanted, const run::Job& job,
                       const std::string& html_file) {
    if (wanted.file.empty() && wanted.resume.empty())
        throw InputError("--checkpoint-every: of which --checkpoint?");
    if (job.machine.find(',') != std::string::npos) refuse("one machine at a time");
    if (job.threads != 1) refuse("with --threads 1 only (results never depend on it)");
    if (!job.trace_file.empty()) refuse("not with --trace, whose file is open all along");
    if (!html_file.empty())
        refuse("not with --html; write --stats, and the page from a run that is over");
    run::check(job);
    if (run::identify(job.what).is(run::SubjectKind::kExecutable))
        refuse("an executable's process is its own; --launch-skip and --launch-count cut it up");
    if (config::Machine::load(job.machine, job.overrides)->kind() == "host")
        refuse("what is measured on this computer has nothing to keep");
    if (!wanted.file.empty()) stats::check_writable(wanted.file);
    process::fix_addresses();
    const std::string identity = identity_of(job);
    if (!wanted.resume.empty()) process::resume_image(wanted.resume, identity);
    process::keep_images(wanted.file, wanted.seconds, identity);
}

}  // namespace lockstep::cli
