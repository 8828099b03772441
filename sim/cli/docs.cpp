// SPDX-License-Identifier: Apache-2.0
// `lockstep docs`: the documentation as a static site.
#include <fmt/format.h>

#include "sim/cli/verbs.h"
#include "sim/docs/folder.h"
#include "sim/docs/site.h"
#include "sim/error/error.h"
#include "sim/stats/version.h"

namespace lockstep::cli {

namespace {

/// Known by it, a folder of an older site is replaced.
constexpr const char* kMarker = "site/index.js";

void write_docs(const std::string& folder) {
    const docs::Site site = docs::build_site(docs::pages(), docs::assets(), stats::version());
    docs::write_folder(folder, site.files, kMarker);
    fmt::print("{}/index.html: {} files\n", folder, site.files.size());
}

}  // namespace

void add_docs(CLI::App& app, int&) {
    auto folder = std::make_shared<std::string>();
    CLI::App* verb =
        app.add_subcommand("docs", "Write the documentation as a static site with search");
    verb->add_option("--out", *folder, "the site's folder: new, empty, or one of an older site")
        ->required()
        ->check(is_name);
    verb->callback([folder] { write_docs(*folder); });
}

}  // namespace lockstep::cli
