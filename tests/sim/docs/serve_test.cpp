// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/serve.h"

#include <gmock/gmock.h>

namespace lockstep::docs {
namespace {

constexpr unsigned short kPort = 8018;

http::Response get(const std::string& target, const std::string& method = "GET",
                   const std::string& host = "127.0.0.1:8018") {
    const Source sources[] = {{"README.md", "# Start\n"}, {"a/b.md", "# B\n"}};
    const Source scripts[] = {{"site/site.js", "'use strict';"}};
    return answer(build_site(sources, scripts, ""),
                  {.method = method, .target = target, .host = host}, kPort);
}

TEST(Serve, AnswersWithTheFilesOfTheSite) {
    EXPECT_THAT(get("/").body, ::testing::HasSubstr("<title>Start - Lockstep</title>"));
    EXPECT_EQ(get("/index.html").body, get("/").body);
    EXPECT_EQ(get("/a/b.html?x=1").status, 200);
    EXPECT_EQ(get("/a/b.html").type, "text/html; charset=utf-8");
    EXPECT_EQ(get("/site/site.js").type, "text/javascript; charset=utf-8");
}

TEST(Serve, RefusesAllElse) {
    EXPECT_EQ(get("/no.html").status, 404);
    EXPECT_EQ(get("/../a/b.html").status, 404);
    EXPECT_EQ(get("").status, 200);
    EXPECT_EQ(get("/", "POST").status, 405);
    EXPECT_EQ(get("/", "GET", "evil.org:8018").status, 403);
    EXPECT_THAT(get("/<script>").body, ::testing::Not(::testing::HasSubstr("<script>")));
}

}  // namespace
}  // namespace lockstep::docs
