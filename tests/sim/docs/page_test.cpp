// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/page.h"

#include <gmock/gmock.h>

namespace lockstep::docs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Page read(std::string_view text) {
    std::vector<Problem> problems;
    Page page = read_page({"models/gpu/README.md", text}, problems);
    EXPECT_THAT(problems, IsEmpty());
    return page;
}

TEST(Page, StandsWhereItsPathSays) {
    EXPECT_EQ(url_of("README.md"), "index.html");
    EXPECT_EQ(url_of("models/gpu/README.md"), "models/gpu/index.html");
    EXPECT_EQ(url_of("isa/npu/instructions.md"), "isa/npu/instructions.html");
    EXPECT_EQ(url_of(".github/CONTRIBUTING.md"), "github/CONTRIBUTING.html");
}

TEST(Page, AnchorsAreThoseOfGitHub) {
    EXPECT_EQ(anchor_of("What's in it?"), "whats-in-it");
    EXPECT_EQ(anchor_of("0x00 `nop`"), "0x00-nop");
    EXPECT_EQ(anchor_of("A - B_c"), "a---b_c");
}

TEST(Page, HasItsTitleWithoutItsPath) {
    EXPECT_EQ(read("# models/gpu: the `GPU`\n").title, "The GPU");
    EXPECT_EQ(read("# models/tpu: not this\n").title, "models/tpu: not this");
    EXPECT_THAT(read("# A \\<b> & `<c>`\n").document.html(),
                HasSubstr("A &lt;b&gt; &amp; <code>&lt;c&gt;</code>"));
}

TEST(Page, SameHeadingsGetDifferentAnchors) {
    const Page page = read("# T\n## Use\na\n## Use\nb\n");
    EXPECT_EQ(page.headings[1].anchor, "use");
    EXPECT_EQ(page.headings[2].anchor, "use-1");
    EXPECT_THAT(page.document.html(), HasSubstr("<h2 id=\"use-1\">"));
}

TEST(Page, TextBelongsToTheHeadingAboveAndNamedRowsToThemselves) {
    const Page page = read(
        "# T\nfirst\n\n| name | about |\n|---|---|\n| `l2.size`, `x` | its *bytes* |\n| plain | "
        "row |\n\n"
        "after\n## U\nlast `code`\n");
    std::vector<std::string> titles, texts;
    for (const Section& section : page.sections) {
        titles.push_back(section.title);
        texts.push_back(section.text);
    }
    EXPECT_THAT(titles, ElementsAre("T", "l2.size, x", "U"));
    EXPECT_THAT(texts,
                ElementsAre("first name about plain row after ", "its bytes ", "last code "));
    EXPECT_EQ(page.sections[1].anchor, "l2size");
    EXPECT_THAT(page.document.html(), HasSubstr("<span id=\"l2size\"></span><code>l2.size</code>"));
}

TEST(Page, FaultsOfATextNameTheirPlace) {
    std::vector<Problem> problems;
    read_page({"a.md", "# T\n\nRun it with\n<name> and more\n"}, problems);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].place, "a.md:4");
    EXPECT_THAT(problems[0].what, HasSubstr("<name>"));
    problems.clear();
    read_page({"b.md", "\nno title\n"}, problems);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].place, "b.md:2");
}

}  // namespace
}  // namespace lockstep::docs
