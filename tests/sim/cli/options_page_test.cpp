// SPDX-License-Identifier: Apache-2.0
// The page of the command line: what --help prints, of each verb.
#include <fmt/format.h>

#include <sstream>

#include "tests/page.h"
#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

/// The verbs, as the program's own help lists them.
std::vector<std::string> verbs() {
    std::istringstream lines(lockstep("--help").output);
    std::vector<std::string> found;
    bool is_listed = false;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string verb;
        words >> verb;
        if (is_listed && line.starts_with("  ") && line[2] != ' ') found.push_back(verb);
        is_listed = is_listed ? !line.empty() : line.starts_with("Subcommands:");
    }
    return found;
}

TEST(OptionsPage, IsWhatHelpPrints) {
    std::string page =
        "# The command line\n"
        "Made from what `--help` prints; do not edit. `./lockstep test` builds and runs every "
        "test.\n";
    const std::vector<std::string> all = verbs();
    EXPECT_GE(all.size(), 9u);
    for (const std::string& verb : all) {
        const Result help = lockstep(verb + " --help");
        EXPECT_EQ(help.status, 0) << verb;
        page += fmt::format("\n## lockstep {}\n```\n{}```\n", verb, help.output);
    }
    expect_page("sim/cli/options.md", page);
}

}  // namespace
}  // namespace lockstep::cli
