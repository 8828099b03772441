// SPDX-License-Identifier: Apache-2.0
// What is answered and what is refused.
#include "sim/lab/api.h"

#include <gtest/gtest.h>

#include "sim/lab/lab_json.h"
#include "tests/paths.h"

namespace lockstep::lab {
namespace {

class ApiTest : public testing::Test {
  protected:
    static Request get(const std::string& target) {
        return {"GET", target, "127.0.0.1:8017", "", "", "", ""};
    }
    static Request post(const std::string& target, const std::string& body) {
        return {"POST", target, "127.0.0.1:8017", "", "", "application/json", body};
    }
    Response answer(const Request& request) const { return api_.answer(request, 8017); }
    int status(const Request& request) const { return answer(request).status; }

    const Library library_;
    Service service_{binary_path("bin/lockstep"), 1};
    const Api api_{library_, service_};
};

TEST_F(ApiTest, ServesPagesAndLabs) {
    EXPECT_EQ(answer(get("/")).type, "text/html; charset=utf-8");
    EXPECT_EQ(answer(get("/lab.js")).type, "text/javascript; charset=utf-8");
    EXPECT_EQ(answer(get("/lab.css")).type, "text/css; charset=utf-8");
    const auto labs = nlohmann::json::parse(answer(get("/api/labs")).body);
    EXPECT_EQ(labs[0]["name"], "systolic");
    const auto lab = nlohmann::json::parse(answer(get("/api/labs/systolic")).body);
    EXPECT_EQ(lab["steps"].size(), labs[0]["steps"]);
    EXPECT_EQ(status(get("/api/labs/none")), 404);
    EXPECT_EQ(status(get("/none")), 404);
    EXPECT_EQ(status(get("/../key/systolic.yaml")), 404);
    EXPECT_EQ(status(get("/key/systolic.yaml")), 404);
}

TEST_F(ApiTest, TellsNoAnswers) {
    for (const KeyedLab& keyed : library_.labs()) {
        const std::string text = lab_json(keyed.lab).dump();
        for (const auto& [id, key] : keyed.key)
            EXPECT_EQ(text.find(key.why.substr(0, 40)), std::string::npos) << id;
    }
}

TEST_F(ApiTest, RefusesOtherHostsAndOtherSitesPages) {
    Request request = get("/api/labs");
    for (const char* host : {"", "example.com", "example.com:8017", "127.0.0.1", "127.0.0.1:80",
                             "127.0.0.1:8017.example.com", "0.0.0.0:8017"}) {
        request.host = host;
        EXPECT_EQ(status(request), 403) << host;
    }
    request = get("/api/labs");
    request.host = "localhost:8017";
    EXPECT_EQ(status(request), 200);
    request.origin = "http://localhost:8017";
    EXPECT_EQ(status(request), 200);
    for (const char* origin : {"http://example.com", "null", "https://localhost:8017"}) {
        request.origin = origin;
        EXPECT_EQ(status(request), 403) << origin;
    }
    request = get("/api/labs");
    request.site = "cross-site";
    EXPECT_EQ(status(request), 403);
    request.target = "/";  // a link leads here
    EXPECT_EQ(status(request), 200);
}

TEST_F(ApiTest, RefusesWhatItDoesNotKnow) {
    EXPECT_EQ(status(post("/api/run", "{")), 400);
    EXPECT_EQ(status(post("/api/run", "[]")), 400);
    EXPECT_EQ(status(post("/api/run", "{}")), 422);
    EXPECT_EQ(status(post("/api/run", R"({"x": "/bin/sh"})")), 422);
    EXPECT_EQ(status(post("/api/none", "{}")), 404);
    EXPECT_EQ(status(post("/api/labs/none/check", "{}")), 422);
    EXPECT_EQ(status(post("/api/labs/systolic/check", "{}")), 422);
    EXPECT_EQ(status(post("/api/labs/systolic/check", R"({"question": "none", "answer": 1})")),
              404);
    EXPECT_EQ(status(post("/api/labs/systolic/command", R"({"step": 99, "command": 0})")), 422);
    Request request = post("/api/run", "{}");
    request.content_type = "text/plain";
    EXPECT_EQ(status(request), 415);
    request.method = "PUT";
    EXPECT_EQ(status(request), 405);
}

TEST_F(ApiTest, ChecksAChoiceWithoutARun) {
    const Response wrong =
        answer(post("/api/labs/systolic/check", R"({"question": "why_skew", "answer": "a"})"));
    EXPECT_FALSE(nlohmann::json::parse(wrong.body)["right"].get<bool>());
    const Response right =
        answer(post("/api/labs/systolic/check", R"({"question": "why_skew", "answer": "b"})"));
    EXPECT_TRUE(nlohmann::json::parse(right.body)["right"].get<bool>());
}

}  // namespace
}  // namespace lockstep::lab
