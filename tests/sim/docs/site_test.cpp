// SPDX-License-Identifier: Apache-2.0
// The site of the source tree has no dead link, and a made-up one shows what happens to them.
#include "sim/docs/site.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>

#include "tests/paths.h"

namespace lockstep::docs {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

TEST(Site, OfThisTreeHasNoFault) {
    const Site site = build_site(all_pages(), assets(), "1.0");
    for (const Problem& problem : site.problems)
        ADD_FAILURE() << problem.place << ": " << problem.what;
    for (const OutsideLink& link : site.outside)
        EXPECT_TRUE(fs::exists(source_path(link.path))) << link.place << ": " << link.path;
}

TEST(Site, HasEveryPageOfThisTree) {
    std::set<std::string> known;
    for (const Source& source : pages()) known.insert(std::string(source.path));
    for (const char* room : {".github", "sim", "isa", "models", "workloads", "validation", "tests"})
        for (auto entry = fs::recursive_directory_iterator(source_path(room));
             entry != fs::recursive_directory_iterator(); ++entry) {
            if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
            if (entry->path().extension() != ".md") continue;
            const std::string path = fs::relative(entry->path(), source_path());
            EXPECT_TRUE(known.contains(path)) << path;
        }
    EXPECT_TRUE(known.contains("README.md"));
}

TEST(Site, HasTheLabsWithTheirSteps) {
    ASSERT_GE(labs().size(), 5u);
    const Site site = build_site(all_pages(), assets(), "1.0");
    for (const Source& lab : labs()) {
        std::string url(lab.path);
        url.replace(url.rfind('.'), std::string::npos, ".html");
        ASSERT_TRUE(site.files.contains(url)) << url;
        EXPECT_THAT(site.files.at(url), HasSubstr("./lockstep lab ")) << url;
        EXPECT_THAT(site.files.at(url), HasSubstr("<h2 id=\"6-")) << url;
    }
}

/// Every href and src of the written files leads to a file of the site and an id in it.
TEST(Site, HasNoDeadLinkInWhatIsWritten) {
    const Site site = build_site(all_pages(), assets(), "1.0");
    static const std::regex kLink("(?:href|src)=\"(?!data:)([^\"]+)\"");
    std::size_t links = 0;
    for (const auto& [path, text] : site.files) {
        if (!path.ends_with(".html")) continue;
        for (std::sregex_iterator it(text.begin(), text.end(), kLink), end; it != end; ++it) {
            const std::string url = (*it)[1];
            if (url.starts_with("http")) continue;
            ++links;
            const std::size_t hash = url.find('#');
            const fs::path beside = fs::path(path).parent_path() / url.substr(0, hash);
            const std::string target = hash == 0 ? path : beside.lexically_normal().string();
            const auto file = site.files.find(target);
            ASSERT_NE(file, site.files.end()) << path << " leads to " << url;
            const std::string anchor = hash == std::string::npos ? "" : url.substr(hash + 1);
            EXPECT_TRUE(anchor.empty() ||
                        file->second.find("id=\"" + anchor + '"') != std::string::npos)
                << path << " leads to " << url;
        }
    }
    EXPECT_GT(links, 1000u);
}

TEST(Site, IsTheSameBytesEachTime) {
    EXPECT_EQ(build_site(all_pages(), assets(), "1").files,
              build_site(all_pages(), assets(), "1").files);
}

TEST(Site, LinksBetweenTextsBecomeLinksOfTheSite) {
    const Source sources[] = {
        {"README.md", "# Start\n[b](a/b.md#use) [a](a) [t](#start) [w](https://w.org/x.md)\n"},
        {"a/README.md", "# A\n[up](../README.md) [src](b.cpp) `a/b.md`\n"},
        {"a/b.md", "# B\n## Use\n"}};
    const Site site = build_site(sources, {}, "");
    EXPECT_THAT(site.problems, IsEmpty());
    const std::string& start = site.files.at("index.html");
    EXPECT_THAT(start, HasSubstr("<a href=\"a/b.html#use\">b</a>"));
    EXPECT_THAT(start, HasSubstr("<a href=\"a/index.html\">a</a>"));
    EXPECT_THAT(start, HasSubstr("<a href=\"#start\">t</a>"));
    EXPECT_THAT(start, HasSubstr("<a href=\"https://w.org/x.md\">w</a>"));
    const std::string& a = site.files.at("a/index.html");
    EXPECT_THAT(a, HasSubstr("<a href=\"../index.html\">up</a>"));
    EXPECT_THAT(a, HasSubstr("<a href=\"b.html\"><code>a/b.md</code></a>"));
    EXPECT_THAT(a, Not(HasSubstr("href=\"b.cpp\"")));
    ASSERT_EQ(site.outside.size(), 1u);
    EXPECT_EQ(site.outside[0].path, "a/b.cpp");
}

TEST(Site, DeadLinksAreNamedWithTheirLine) {
    const Source sources[] = {
        {"README.md", "# T\n\n[x](no.md)\n[y](a.md#no) [z](../out.md)\n![p](a.png)\n"},
        {"a.md", "# A\n"}};
    std::vector<std::string> found;
    for (const Problem& problem : build_site(sources, {}, "").problems)
        found.push_back(problem.place + " " + problem.what);
    EXPECT_THAT(found, ::testing::ElementsAre("README.md:3 no page is at no.md",
                                              "README.md:4 a.md#no: a.md has no heading for #no",
                                              "README.md:4 no page is at ../out.md",
                                              HasSubstr("README.md:5 ")));
}

TEST(Site, PicturesArePartOfThePage) {
    const Source sources[] = {
        {"README.md", "# T\n\n![A \"report\"](sim/docs/pictures/report.png)\n"}};
    const Site site = build_site(sources, {}, "");
    EXPECT_TRUE(site.problems.empty());
    EXPECT_THAT(site.files.at("index.html"),
                HasSubstr("<img class=\"picture\" alt=\"A &quot;report&quot;\" "
                          "src=\"data:image/png;base64,iVBORw0KGgo"));
}

TEST(Site, TextsCannotWriteMarkup) {
    const Source sources[] = {
        {"README.md",
         "# <img> & \"q\"\n## <script>\n[l](javascript:alert(1))\n```\n</code><b>\n```\n"}};
    const Site site = build_site(sources, {}, "<v>");
    const std::string& html = site.files.at("index.html");
    EXPECT_THAT(html, HasSubstr("<title>&lt;img&gt; &amp; &quot;q&quot; - Lockstep</title>"));
    EXPECT_THAT(html, Not(HasSubstr("<script>")));
    EXPECT_THAT(html, Not(HasSubstr("javascript:")));
    EXPECT_THAT(html, HasSubstr("&lt;/code&gt;&lt;b&gt;"));
    EXPECT_THAT(html, HasSubstr("Lockstep &lt;v&gt;"));
}

}  // namespace
}  // namespace lockstep::docs
