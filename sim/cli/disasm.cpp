// SPDX-License-Identifier: Apache-2.0
// `lockstep disasm FILE`: what a cubin, fatbin or executable holds, and the instructions of its
// kernels.
#include <fmt/format.h>

#include "isa/command/disassembler.h"
#include "isa/cubin/cubin.h"
#include "isa/cubin/executable.h"
#include "isa/cubin/fatbin.h"
#include "isa/cubin/listing.h"
#include "isa/sass/disassembler/disassembler.h"
#include "isa/sass/word.h"
#include "sim/cli/verbs.h"
#include "workloads/run/npu/program.h"
#include "workloads/run/subject.h"
#include "workloads/run/tpu/program.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string file;
    std::string kernel;
};

void print_function(const cubin::Cubin& cubin, const cubin::Function& function) {
    fmt::print("{}", cubin::describe(cubin, function, "// "));
    for (std::size_t pc = 0; pc + sass::Word::kBytes <= function.code.size();
         pc += sass::Word::kBytes) {
        const sass::Word word = sass::Word::load(function.code.data() + pc);
        fmt::print("        /*{:04x}*/  {:<60} /* {:#018x} {:#018x} */\n", pc,
                   sass::disassemble(word, cubin.arch, pc) + " ;", word.lo, word.hi);
    }
    fmt::print("\n");
}

bool print_cubin(std::span<const std::uint8_t> bytes, const Options& options,
                 const std::string& name) {
    const cubin::Cubin cubin = cubin::parse(bytes, name);
    bool found = false;
    if (options.kernel.empty()) fmt::print("{}\n", cubin::listing(cubin));
    for (const cubin::Function& function : cubin.functions) {
        if (!options.kernel.empty() && function.name != options.kernel) continue;
        found = true;
        print_function(cubin, function);
    }
    return found || options.kernel.empty();
}

bool print_fatbin(std::span<const std::uint8_t> bytes, const Options& options, std::uint64_t base) {
    const auto images = cubin::parse_fatbin(bytes, options.file, base);
    if (options.kernel.empty()) fmt::print("{}\n", cubin::listing(images));
    bool found = options.kernel.empty();
    for (const cubin::Image& image : images)
        if (image.kind == cubin::ImageKind::kElf)
            found |= print_cubin(cubin::payload(image, options.file), options, options.file);
    return found;
}

void disassemble(const Options& options) {
    const std::vector<std::uint8_t> bytes = run::read_file(options.file);
    if (run::is_tpu_program(options.file, bytes)) {
        if (!options.kernel.empty())
            throw InputError(fmt::format("--kernel: {} is a TPU program", options.file));
        fmt::print("{}", tpu::listing(run::load_tpu_program(options.file, bytes), false));
        return;
    }
    if (run::is_npu_program(options.file, bytes)) {
        if (!options.kernel.empty())
            throw InputError(fmt::format("--kernel: {} is an NPU program", options.file));
        fmt::print("{}", npu::listing(run::load_npu_program(options.file, bytes), false));
        return;
    }
    bool found = true;
    switch (cubin::identify(bytes)) {
        case cubin::FileKind::kCubin:
            found = print_cubin(bytes, options, options.file);
            break;
        case cubin::FileKind::kFatbin:
            found = print_fatbin(bytes, options, 0);
            break;
        case cubin::FileKind::kExecutable: {
            const auto fatbins = cubin::find_fatbins(bytes, options.file);
            if (fatbins.empty())
                throw InputError(fmt::format("{}: holds no GPU code", options.file));
            found = options.kernel.empty();
            for (const cubin::EmbeddedFatbin& fatbin : fatbins)
                found |= print_fatbin(fatbin.bytes, options, fatbin.file_offset);
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
    verb->callback([options] { disassemble(*options); });
}

}  // namespace lockstep::cli
