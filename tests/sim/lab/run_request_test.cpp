// SPDX-License-Identifier: Apache-2.0
// What pages may run: words are checked one by one, and no other gets through.
#include "sim/lab/run_request.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::lab {
namespace {

using Words = std::vector<std::string>;

std::string error_of(const std::string& text) {
    try {
        RunRequest::from_text(text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(RunRequest, TakesWhatIsTypedBehindRun) {
    const Words words = {"run", "gemm:m=3,n=2,k=2", "--on", "systolic", "--set", "array.rows=2"};
    EXPECT_EQ(RunRequest::from_text("gemm:m=3,n=2,k=2 --on systolic --set array.rows=2").words(),
              words);
    EXPECT_EQ(
        RunRequest::from_text("./lockstep run gemm:m=3,n=2,k=2 --on systolic --set 'array.rows=2'")
            .words(),
        words);
}

TEST(RunRequest, TakesTheSameAsJson) {
    const auto json = nlohmann::json::parse(
        R"({"x": "gemm:m=3,n=2,k=2", "on": "systolic", "set": ["array.rows=2"], "no_values": true,
            "energy": false, "seed": 7})");
    EXPECT_EQ(RunRequest::from_json(json).words(),
              (Words{"run", "gemm:m=3,n=2,k=2", "--no-values", "--on", "systolic", "--seed", "7",
                     "--set", "array.rows=2"}));
}

TEST(RunRequest, RefusesFilesAndOptionsThatNameThem) {
    for (const char* text :
         {"./app", "../x", "/bin/sh", "a.onnx", "gemm:m=$(id)", "gemm --stats /tmp/x",
          "gemm --trace x.vcd", "gemm --on mine.yaml", "gemm --set a=/etc/passwd",
          "gemm --on systolic;id", "gemm -- -x", "gemm --html x", "gemm --on", "", "gemm 'x"})
        EXPECT_NE(error_of(text), "none") << text;
}

TEST(RunRequest, NamesTheNearestRightThing) {
    EXPECT_EQ(error_of("gemm --on systolc"), "no machine 'systolc'; did you mean systolic?");
    EXPECT_EQ(error_of("gemm --mod cycle"),
              "'--mod': labs do not take this option; did you mean --mode?");
    EXPECT_EQ(error_of("gemm --mode slow"), "--mode slow: not a value that labs take");
}

}  // namespace
}  // namespace lockstep::lab
