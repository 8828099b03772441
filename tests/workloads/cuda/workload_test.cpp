// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/error/error.h"

namespace lockstep::cuda {
namespace {

using testing::HasSubstr;

std::string parse_error(std::string_view workload, std::string_view text) {
    try {
        parse_parameters(find_workload(workload), text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Workloads, HaveDistinctNamesAndDefaultsInRange) {
    std::set<std::string> names;
    for (const Workload& workload : workloads()) {
        EXPECT_TRUE(names.insert(workload.name).second) << workload.name;
        EXPECT_FALSE(workload.summary.empty()) << workload.name;
        for (const ParameterInfo& p : workload.parameters) {
            EXPECT_GE(p.default_value, p.minimum) << workload.name << " " << p.name;
            EXPECT_LE(p.default_value, p.maximum) << workload.name << " " << p.name;
        }
    }
}

TEST(Workloads, HaveTheNamesOfTheContract) {
    const std::pair<const char*, const char*> contract[] = {
        {"vector_add", "n=5"},
        {"reduce", "n=5"},
        {"transpose", "rows=5,cols=6"},
        {"sgemm", "m=5,n=6,k=7"},
        {"hgemm", "m=5,n=6,k=7"},
        {"igemm", "m=5,n=6,k=7"},
        {"scan", "n=5"},
        {"attention", "heads=1,seq=5,d=6"},
        {"histogram", "n=5,bins=6"},
        {"layernorm", "rows=5,cols=6"},
        {"softmax", "rows=5,cols=6"},
        {"conv2d", "n=1,h=5,w=5,c=2,k=3,r=3,s=3,stride=1,pad=1"},
        {"sgemm_naive", "m=1,n=1,k=1"},
        {"sgemm_shared", "m=1,n=1,k=1"},
        {"hgemm_wmma", "m=1,n=1,k=1"},
        {"hgemm_wgmma", "m=1,n=1,k=1"},
        {"sgemm_double_buffered", "m=1,n=1,k=1"},
        {"attention_naive", "heads=1,seq=1,d=1"},
        {"sgemm_vectorised", "m=1,n=1,k=1"},
    };
    for (const auto& [name, text] : contract) {
        EXPECT_NO_THROW(parse_parameters(find_workload(name), text)) << name;
    }
}

TEST(Workloads, AnUnknownNameGetsTheNearest) {
    try {
        find_workload("sgem");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("'sgemm'"));
    }
}

TEST(ParseParameters, DefaultsAreFilledIn) {
    const Parameters p = parse_parameters(find_workload("sgemm"), "k=33");
    EXPECT_EQ(p.at("m"), 256);
    EXPECT_EQ(p.at("k"), 33);
    EXPECT_EQ(parse_parameters(find_workload("sgemm"), "").size(), 3u);
}

TEST(ParseParameters, SaysWhatIsWrong) {
    EXPECT_THAT(parse_error("attention", "head=1"), HasSubstr("did you mean 'heads'?"));
    EXPECT_THAT(parse_error("sgemm", "m=1,n"), HasSubstr("'n' (at character 5 of its parameters)"));
    EXPECT_THAT(parse_error("sgemm", "m=1x"), HasSubstr("not an integer"));
    EXPECT_THAT(parse_error("sgemm", "m="), HasSubstr("not an integer"));
    EXPECT_THAT(parse_error("sgemm", "m=0"), HasSubstr("from 1 to"));
    EXPECT_THAT(parse_error("sgemm", "m=99999999999999999999"), HasSubstr("not an integer"));
    EXPECT_THAT(parse_error("sgemm", "m=1,m=2"), HasSubstr("given twice"));
    EXPECT_THAT(parse_error("sgemm", "m=1,"), HasSubstr("after the last comma"));
    EXPECT_THAT(parse_error("sgemm", ",m=1"), HasSubstr("expected key=value"));
}

}  // namespace
}  // namespace lockstep::cuda
