// SPDX-License-Identifier: Apache-2.0
// `lockstep docs`: the documentation as a site, on loopback or as files.
#include <fmt/format.h>

#include "sim/cli/serving.h"
#include "sim/cli/verbs.h"
#include "sim/docs/folder.h"
#include "sim/docs/serve.h"
#include "sim/docs/site.h"
#include "sim/error/error.h"
#include "sim/http/server.h"
#include "sim/stats/version.h"

namespace lockstep::cli {

namespace {

/// Known by it, a folder of an older site is replaced.
constexpr const char* kMarker = "site/index.js";

struct Options {
    std::string folder;
    int port = 8018;
    bool opens = false;
};

void show_docs(const Options& options) {
    const docs::Site site = docs::build_site(docs::all_pages(), docs::assets(), stats::version());
    if (options.folder.empty()) {
        const auto answer = [&](const http::Request& request, unsigned short port) {
            return docs::answer(site, request, port);
        };
        http::serve(answer, static_cast<unsigned short>(options.port),
                    announce("Documentation", options.opens), [] {});
        return;
    }
    docs::write_folder(options.folder, site.files, kMarker);
    fmt::print("{}/index.html: {} files\n", options.folder, site.files.size());
}

}  // namespace

void add_docs(CLI::App& app, int&) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand(
        "docs", "The documentation with search: in the browser, or as a static site");
    CLI::Option* const out =
        verb->add_option("--out", options->folder,
                         "write the site to this folder: new, empty, or one of an older site")
            ->check(is_name);
    verb->add_option("--port", options->port, "port on 127.0.0.1 (0: any that is free)")
        ->check(CLI::Range(0, 65535))
        ->excludes(out)
        ->capture_default_str();
    verb->add_flag("--open", options->opens, "open the page in the browser")->excludes(out);
    verb->callback([options] { show_docs(*options); });
}

}  // namespace lockstep::cli
