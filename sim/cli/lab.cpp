// SPDX-License-Identifier: Apache-2.0
// `lockstep lab`: labs in the browser and in the terminal.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <iterator>

#include "sim/cli/serving.h"
#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "sim/lab/library.h"
#include "sim/lab/server.h"
#include "sim/lab/terminal.h"
#include "sim/lab/widgets/widgets.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string name, folder, widget;
    int port = 8017;
    bool lists = false, shows_key = false, opens = false;
};

int print_widget(const std::string& name) {
    const std::string request(std::istreambuf_iterator<char>(std::cin), {});
    fmt::print("{}", lab::widget_answer(name, request));
    return static_cast<int>(ExitStatus::kDone);
}

int run_lab(const Options& options) {
    if (!options.widget.empty()) return print_widget(options.widget);
    const lab::Library library =
        options.folder.empty() ? lab::Library() : lab::Library(options.folder);
    if (options.lists) {
        lab::print_list(library);
        return static_cast<int>(ExitStatus::kDone);
    }
    lab::Service service(std::filesystem::read_symlink("/proc/self/exe"));
    if (!options.name.empty()) {
        const lab::KeyedLab& chosen = library.find(options.name);
        if (options.shows_key)
            lab::print_key(chosen, service);
        else
            lab::work_through(chosen, service, std::cin);
        return static_cast<int>(ExitStatus::kDone);
    }
    if (options.shows_key) throw InputError("--key: of which lab? (lab --list)");
    lab::serve(library, service, static_cast<unsigned short>(options.port),
               announce("Labs", options.opens));
    return static_cast<int>(ExitStatus::kDone);
}

}  // namespace

void add_lab(CLI::App& app, int& status) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand(
        "lab", "Labs with questions that are checked: in the browser, or NAME in the terminal");
    verb->add_option("NAME", options->name, "work through this lab in the terminal")
        ->check(is_name);
    verb->add_flag("--list", options->lists, "list the labs");
    verb->add_flag("--key", options->shows_key, "print the instructor's key of lab NAME");
    verb->add_option("--port", options->port, "port on 127.0.0.1 (0: any that is free)")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    verb->add_flag("--open", options->opens, "open the page in the browser");
    verb->add_option("--labs", options->folder,
                     "labs/*.yaml and key/*.yaml of this folder in place of the program's")
        ->check(is_name);
    verb->add_option("--widget", options->widget)->group("");
    verb->callback([options, &status] { status = run_lab(*options); });
}

}  // namespace lockstep::cli
