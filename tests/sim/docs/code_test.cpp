// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/code.h"

#include <gmock/gmock.h>

namespace lockstep::docs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Code, EscapesWhatIsMarkupElsewhere) {
    EXPECT_EQ(highlight("a < b && c > \"d\"", ""), "a &lt; b &amp;&amp; c &gt; &quot;d&quot;");
    EXPECT_EQ(highlight("<script>", "cpp"), "&lt;script&gt;");
    EXPECT_EQ(highlight("echo '<b>' # <i>", "sh"),
              "echo <span class=\"string\">'&lt;b&gt;'</span> "
              "<span class=\"comment\"># &lt;i&gt;</span>");
}

TEST(Code, LosesNoCharacter) {
    const auto plain = [](std::string html) {
        for (std::size_t at; (at = html.find('<')) != std::string::npos;)
            html.erase(at, html.find('>', at) + 1 - at);
        return html;
    };
    for (const char* language : {"", "sh", "cpp", "yaml", "rust"})
        for (const std::string code : {"$ a --b=1 \\\n  c\nout \"put\n",
                                       "int x = 0x1f; // y\n#include 'z", "- k: v # w\n\n  'u"})
            EXPECT_EQ(plain(highlight(code, language)), plain(highlight(code, "none"))) << language;
}

TEST(Code, TellsCommandsFromWhatTheyPrint) {
    const std::string html = highlight("$ run a \\\n  --on b\n--on is printed\n", "");
    EXPECT_THAT(html, HasSubstr("<span class=\"prompt\">$ </span>run"));
    EXPECT_THAT(html, HasSubstr("<span class=\"option\">--on</span> b"));
    EXPECT_THAT(html, HasSubstr("<span class=\"output\">--on is printed</span>"));
}

TEST(Code, KnowsWordsOfCudaAndKeysOfYaml) {
    EXPECT_THAT(highlight("__global__ void f(int* p)", "cuda"),
                HasSubstr("<span class=\"keyword\">__global__</span>"));
    EXPECT_THAT(highlight("voided", "cuda"), Not(HasSubstr("keyword")));
    EXPECT_THAT(highlight("  sm.count: 132", "yaml"),
                HasSubstr("<span class=\"keyword\">sm.count</span>:"));
}

}  // namespace
}  // namespace lockstep::docs
