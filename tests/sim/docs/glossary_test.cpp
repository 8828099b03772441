// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/glossary.h"

#include <gmock/gmock.h>

#include "sim/docs/site.h"

namespace lockstep::docs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Source kGlossary{kGlossaryPath,
                           "# Glossary\n## Threads\n### warp\nThreads of \"one\" SM.\n"
                           "### warp scheduler\nPicks a warp.\n### SM, streaming multiprocessor\n"
                           "The core.\n"};

std::string linked(std::string_view text) {
    const Source sources[] = {kGlossary, {"a/page.md", text}};
    return build_site(sources, {}, "").files.at("a/page.html");
}

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
    return n;
}

TEST(Glossary, LinksTheFirstUseWithItsMeaning) {
    const std::string html = linked("# T\nWarps wait. A warp goes.\n\nAnother warp.\n");
    EXPECT_THAT(html, HasSubstr("<a class=\"term\" href=\"../sim/docs/glossary.html#warp\" "
                                "data-meaning=\"Threads of &quot;one&quot; SM.\">Warps</a> wait"));
    EXPECT_EQ(count(html, "class=\"term\""), 1u);
}

TEST(Glossary, TakesTheLongestNameAndWholeWords) {
    const std::string html = linked("# T\nThe warp scheduler, warped, warp-wide, xwarp.\n");
    EXPECT_THAT(html, HasSubstr("#warp-scheduler"));
    EXPECT_EQ(count(html, "class=\"term\""), 1u);
}

TEST(Glossary, NamesInCapitalsStandAsTheyAre) {
    EXPECT_THAT(linked("# T\nsms and an sm.\n"), Not(HasSubstr("class=\"term\"")));
    EXPECT_THAT(linked("# T\nAll SMs.\n"), HasSubstr(">SMs</a>"));
    EXPECT_THAT(linked("# T\nA Streaming multiprocessor.\n"),
                HasSubstr("#sm-streaming-multiprocessor"));
}

TEST(Glossary, ProperNamesAreNoOthers) {
    const Source sources[] = {
        {kGlossaryPath, "# G\n### tiling, tile\nTo cut.\n### Tile\nA part of a chip.\n"},
        {"a.md", "# T\nA Tile cuts a tile.\n"}};
    const std::string html = build_site(sources, {}, "").files.at("a.html");
    EXPECT_THAT(html, HasSubstr("data-meaning=\"A part of a chip.\">Tile</a>"));
    EXPECT_THAT(html, HasSubstr("data-meaning=\"To cut.\">tile</a>"));
}

TEST(Glossary, LeavesHeadingsCodeLinksAndTablesAlone) {
    EXPECT_THAT(
        linked("# A warp\n## warp\n`warp` [warp](https://w.org)\n\n| warp |\n|---|\n| warp |\n"
               "\n```\nwarp\n```\n"),
        Not(HasSubstr("class=\"term\"")));
}

TEST(Glossary, MeaningsLeadToOtherTermsAndNotToThemselves) {
    const Source sources[] = {kGlossary};
    const std::string html = build_site(sources, {}, "").files.at("sim/docs/glossary.html");
    EXPECT_THAT(html, HasSubstr("href=\"#sm-streaming-multiprocessor\""));
    EXPECT_THAT(html, HasSubstr("href=\"#warp\""));
    EXPECT_EQ(count(html, "class=\"term\""), 2u);
}

TEST(Glossary, OfTheProgramHasTermsWithMeanings) {
    std::vector<Problem> problems;
    for (const Source& source : pages()) {
        if (source.path != kGlossaryPath) continue;
        const Glossary glossary(read_page(source, problems));
        EXPECT_GE(glossary.terms().size(), 60u);
        std::set<std::string> names;
        for (const Term& term : glossary.terms()) {
            EXPECT_GE(term.meaning.size(), 40u) << term.anchor;
            for (const std::string& name : term.names)
                EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
        }
    }
    EXPECT_TRUE(problems.empty());
}

}  // namespace
}  // namespace lockstep::docs
