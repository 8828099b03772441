// SPDX-License-Identifier: Apache-2.0
// `lockstep disasm FILE`: what a cubin, fatbin or executable holds, and the instructions of its
// kernels.
#include <fmt/format.h>

#include <map>

#include "isa/command/disassembler.h"
#include "isa/cubin/cubin.h"
#include "isa/cubin/demangle.h"
#include "isa/cubin/executable.h"
#include "isa/cubin/fatbin.h"
#include "isa/cubin/listing.h"
#include "isa/sass/disassembler/disassembler.h"
#include "isa/sass/word.h"
#include "sim/cli/verbs.h"
#include "sim/stats/profile_text.h"
#include "workloads/report/run_file.h"
#include "workloads/run/npu/program.h"
#include "workloads/run/subject.h"
#include "workloads/run/tpu/program.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string file;
    std::string kernel;
    std::string profile;
};

/// What instructions did in a run, to stand in front of them.
class Annotations {
  public:
    explicit Annotations(const std::string& file) {
        if (file.empty()) return;
        run_ = report::read_run(file);
        for (const report::Step& step : run_.steps)
            for (const stats::Profile::Row& row : step.profile.rows) {
                const auto [at, is_new] = rows_.try_emplace({row.function, row.pc}, row);
                if (is_new) continue;
                for (std::size_t i = 0; i < row.values.size(); ++i)
                    at->second.values[i] += row.values[i];
            }
        if (rows_.empty())
            throw InputError(fmt::format(
                "{}: has no counters by instruction; run --source --stats writes them", file));
        for (const report::Step& step : run_.steps)
            if (!step.profile.rows.empty()) columns_.columns = step.profile.columns;
        for (const auto& [key, row] : rows_) all_ += columns_.stalled(row);
    }

    std::string before(const std::string& function, std::uint64_t pc) const {
        if (rows_.empty()) return "";
        const auto found = rows_.find({function, pc});
        if (found == rows_.end()) return fmt::format("{:>10} {:>6}  {:<26}", "", "", "");
        const stats::Profile::Row& row = found->second;
        const double share = all_ == 0 ? 0
                                       : 100 * static_cast<double>(columns_.stalled(row)) /
                                             static_cast<double>(all_);
        return fmt::format("{:>10} {:>5.1f}%  {:<26}", columns_.value(row, "inst_executed"), share,
                           stats::main_stall(columns_, row));
    }
    std::string head() const {
        return rows_.empty() ? ""
                             : fmt::format("{:>10} {:>6}  {:<26}\n", "issues", "waits", "for most");
    }

  private:
    report::RunFile run_;
    std::map<std::pair<std::string, std::uint64_t>, stats::Profile::Row> rows_;
    stats::Profile columns_;  ///< without rows
    std::uint64_t all_ = 0;
};

void print_function(const cubin::Cubin& cubin, const cubin::Function& function,
                    const Annotations& notes) {
    fmt::print("{}{}", cubin::describe(cubin, function, "// "), notes.head());
    const std::string name = cubin::demangled(function.name);
    for (std::size_t pc = 0; pc + sass::Word::kBytes <= function.code.size();
         pc += sass::Word::kBytes) {
        const sass::Word word = sass::Word::load(function.code.data() + pc);
        fmt::print("{}        /*{:04x}*/  {:<60} /* {:#018x} {:#018x} */\n", notes.before(name, pc),
                   pc, sass::disassemble(word, cubin.arch, pc) + " ;", word.lo, word.hi);
    }
    fmt::print("\n");
}

bool print_cubin(std::span<const std::uint8_t> bytes, const Options& options,
                 const Annotations& notes, const std::string& name) {
    const cubin::Cubin cubin = cubin::parse(bytes, name);
    bool found = false;
    if (options.kernel.empty()) fmt::print("{}\n", cubin::listing(cubin));
    for (const cubin::Function& function : cubin.functions) {
        if (!options.kernel.empty() && function.name != options.kernel) continue;
        found = true;
        print_function(cubin, function, notes);
    }
    return found || options.kernel.empty();
}

bool print_fatbin(std::span<const std::uint8_t> bytes, const Options& options,
                  const Annotations& notes, std::uint64_t base) {
    const auto images = cubin::parse_fatbin(bytes, options.file, base);
    if (options.kernel.empty()) fmt::print("{}\n", cubin::listing(images));
    bool found = options.kernel.empty();
    for (const cubin::Image& image : images)
        if (image.kind == cubin::ImageKind::kElf)
            found |= print_cubin(cubin::payload(image, options.file), options, notes, options.file);
    return found;
}

void disassemble(const Options& options) {
    const std::vector<std::uint8_t> bytes = run::read_file(options.file);
    const Annotations notes(options.profile);
    if (run::is_tpu_program(options.file, bytes)) {
        for (const auto& [is_given, option] : {std::pair{!options.kernel.empty(), "--kernel"},
                                               {!options.profile.empty(), "--profile"}})
            if (is_given)
                throw InputError(fmt::format("{}: {} is a TPU program", option, options.file));
        fmt::print("{}", tpu::listing(run::load_tpu_program(options.file, bytes), false));
        return;
    }
    if (run::is_npu_program(options.file, bytes)) {
        for (const auto& [is_given, option] : {std::pair{!options.kernel.empty(), "--kernel"},
                                               {!options.profile.empty(), "--profile"}})
            if (is_given)
                throw InputError(fmt::format("{}: {} is an NPU program", option, options.file));
        fmt::print("{}", npu::listing(run::load_npu_program(options.file, bytes), false));
        return;
    }
    bool found = true;
    switch (cubin::identify(bytes)) {
        case cubin::FileKind::kCubin:
            found = print_cubin(bytes, options, notes, options.file);
            break;
        case cubin::FileKind::kFatbin:
            found = print_fatbin(bytes, options, notes, 0);
            break;
        case cubin::FileKind::kExecutable: {
            const auto fatbins = cubin::find_fatbins(bytes, options.file);
            if (fatbins.empty())
                throw InputError(fmt::format("{}: holds no GPU code", options.file));
            found = options.kernel.empty();
            for (const cubin::EmbeddedFatbin& fatbin : fatbins)
                found |= print_fatbin(fatbin.bytes, options, notes, fatbin.file_offset);
            break;
        }
        default:
            throw InputError(
                fmt::format("{}: neither a cubin, a fatbin nor a CUDA executable", options.file));
    }
    if (!found)
        throw InputError(fmt::format("{}: no function named {}", options.file, options.kernel));
}

}  // namespace

void add_disasm(CLI::App& app, int&) {
    auto options = std::make_shared<Options>();
    CLI::App* verb =
        app.add_subcommand("disasm", "Disassemble a cubin, fatbin, executable, TPU or NPU program");
    verb->add_option("file", options->file, "cubin, fatbin, executable, .tpu or .npu")->required();
    verb->add_option("--kernel", options->kernel, "only this function");
    verb->add_option("--profile", options->profile,
                     "statistics of a run with --source (.json): issues and waits in front of each "
                     "instruction")
        ->check(is_name);
    verb->callback([options] { disassemble(*options); });
}

}  // namespace lockstep::cli
