// SPDX-License-Identifier: Apache-2.0
// The index, and the script that searches it (where Node is installed).
#include "sim/docs/search_index.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/docs/site.h"
#include "tests/paths.h"

namespace lockstep::docs {
namespace {

using ::testing::ElementsAre;

nlohmann::json index_of(const Site& site) {
    const std::string& script = site.files.at("site/index.js");
    const std::size_t from = script.find('{');
    return nlohmann::json::parse(script.substr(from, script.rfind('}') + 1 - from));
}

Site small_site() {
    const Source sources[] = {
        {"README.md", "# Start\nThe zyxomma flies.\n## Zyxomma\nIt is a dragonfly.\n"},
        {"a/b.md",
         "# Other\n\"quoted\" </script> zyxommatid\n\n| n |\n|---|\n| `l1tex__t_sectors.sum` |\n"}};
    return build_site(sources, {}, "");
}

/// Section -> weight of a word.
std::map<std::string, int> found(const nlohmann::json& index, const std::string& word) {
    const auto& terms = index["terms"];
    const auto term = std::find(terms.begin(), terms.end(), word);
    if (term == terms.end()) return {};
    const auto& list = index["postings"][static_cast<std::size_t>(term - terms.begin())];
    std::map<std::string, int> weights;
    for (std::size_t i = 0; i < list.size(); i += 2)
        weights[index["sections"][list[i].get<std::size_t>()][2]] = list[i + 1];
    return weights;
}

TEST(SearchIndex, CutsTextIntoWordsAndTheirParts) {
    EXPECT_THAT(words_of("L1tex__t_sectors.sum, a-B"),
                ElementsAre("l1tex__t_sectors", "l1tex", "t", "sectors", "sum", "a", "b"));
}

TEST(SearchIndex, FindsPlantedWordsAndWeighsHeadings) {
    const auto index = index_of(small_site());
    const auto weights = found(index, "zyxomma");
    ASSERT_EQ(weights.size(), 2u);
    EXPECT_GT(weights.at("Zyxomma"), weights.at("Start"));
    EXPECT_EQ(found(index, "sectors").count("l1tex__t_sectors.sum"), 1u);
    EXPECT_TRUE(found(index, "missing").empty());
}

TEST(SearchIndex, TermsAreSortedForPrefixes) {
    const auto terms = index_of(small_site())["terms"].get<std::vector<std::string>>();
    EXPECT_TRUE(std::is_sorted(terms.begin(), terms.end()));
}

/// What search.js finds in the site: titles, best first.
std::string search(const Site& site, const std::string& query) {
    const auto folder = std::filesystem::path(::testing::TempDir()) /
                        ("docs_search_" + std::to_string(getpid()));  // tests run side by side
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "index.js") << site.files.at("site/index.js");
    const std::string script =
        "const fs=require('fs'),vm=require('vm');globalThis.window={};"
        "vm.runInThisContext(fs.readFileSync(process.argv[1],'utf8'));"
        "vm.runInThisContext(fs.readFileSync(process.argv[2],'utf8')+';globalThis.s=lockstepSearch'"
        ");"
        "const index=window.lockstepIndex;"
        "console.log(s.find(index,process.argv[3]).slice(0,3).map(n=>index.sections[n][2]).join('|'"
        "))";
    const std::string command = "node -e \"" + script + "\" '" + (folder / "index.js").string() +
                                "' '" + source_path("sim/docs/site/search.js") + "' '" + query +
                                "'";
    std::FILE* const pipe = popen(command.c_str(), "r");
    char text[1000] = "";
    if (std::fgets(text, sizeof text, pipe) == nullptr) text[0] = '\0';
    pclose(pipe);
    std::string line = text;
    while (line.ends_with('\n')) line.pop_back();
    std::filesystem::remove_all(folder);
    return line;
}

TEST(SearchScript, FindsBeginningsOfWordsBestFirst) {
    if (std::system("node --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "Node is not installed";
    const Site site = small_site();
    EXPECT_EQ(search(site, "Zyxomma"), "Zyxomma|Start|Other");
    EXPECT_EQ(search(site, "zyxo drag"), "Zyxomma");
    EXPECT_EQ(search(site, "t_sectors"), "");  // a word within a word, and not a beginning
    EXPECT_EQ(search(site, "l1tex__t_sec"), "l1tex__t_sectors.sum");
    EXPECT_EQ(search(site, "no.such"), "");
    EXPECT_EQ(search(site, "(*["), "");
}

TEST(SearchScript, FindsTheGlossaryFirst) {
    if (std::system("node --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "Node is not installed";
    const Site site = build_site(all_pages(), assets(), "");
    for (const char* term : {"warp", "bank conflict", "weight-stationary", "mbarrier"})
        EXPECT_THAT(search(site, term), ::testing::StartsWith(term));
}

}  // namespace
}  // namespace lockstep::docs
