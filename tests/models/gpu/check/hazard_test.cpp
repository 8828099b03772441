// SPDX-License-Identifier: Apache-2.0
// Misuse of shared memory beside copies of TMA is found, with both instructions; what waits and
// fences is none (data/tma.cu).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/gpu/kernel_fixture.h"
#include "tests/models/gpu/tensor_parameter.h"

namespace lockstep {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Hazard : public testing::Test {
  protected:
    template <typename... Parameters>
    std::string report(const std::string& kernel, unsigned threads, Parameters... parameters) {
        testing::internal::CaptureStderr();
        runner_.launch(kernel, {1}, {threads}, ToFirstMap{}, parameters...);
        return testing::internal::GetCapturedStderr();
    }
    KernelRunner runner_{"h200", "tma_sm_90a.cubin", {.checks = kCheckHazards}};
    std::span<int> in_ = runner_.ints(kTile * kTile * 8), out_ = runner_.ints(kTile * kTile * 8);
    MapParameter from_ = map_of(in_.data(), kTile, kTile * 8, kTile);
    MapParameter to_ = map_of(out_.data(), kTile, kTile * 8, kTile);
};

TEST_F(Hazard, OfProgramsThatWaitAndFenceThereAreNone) {
    EXPECT_EQ(report("add_one", 128, from_, to_), "");
    EXPECT_EQ(report("store_tiles", 1024, to_, 4), "");
    EXPECT_EQ(report("ring", 160, from_, out_.data(), 7), "");
    EXPECT_EQ(runner_.device().findings(), 0u);
}

TEST_F(Hazard, ATileIsReadBeforeItsPhase) {
    EXPECT_THAT(report("add_one_too_early", 128, from_, to_),
                AllOf(HasSubstr("hazard: a tile is read before the phase of its mbarrier"),
                      HasSubstr("in kernel add_one_too_early"), HasSubstr("UTMALDG"),
                      HasSubstr("LDS"), HasSubstr("CTA (0,0,0) thread")));
}

TEST_F(Hazard, ABufferIsWrittenBeforeItsStoreHasReadIt) {
    EXPECT_THAT(report("store_tiles_too_early", 1024, to_, 3),
                AllOf(HasSubstr("hazard: shared memory is written while a pending copy has yet to "
                                "read it"),
                      HasSubstr("STS"), HasSubstr("UTMASTG")));
}

TEST_F(Hazard, AWriteThatNoProxyFenceOrdersBeforeACopy) {
    EXPECT_THAT(report("store_without_fence", 1024, to_),
                AllOf(HasSubstr("no fence.proxy.async has made visible"), HasSubstr("UTMASTG"),
                      HasSubstr("written by"), HasSubstr("STS")));
}

class ProductHazard : public testing::Test {
  protected:
    template <typename... Parameters>
    std::string report(const std::string& kernel, Parameters... parameters) {
        testing::internal::CaptureStderr();
        runner_.launch(kernel, {1}, {128}, out_.data(), parameters...);
        return testing::internal::GetCapturedStderr();
    }
    KernelRunner runner_{"h200", "product_hazards_sm_90a.cubin", {.checks = kCheckHazards}};
    std::span<int> out_ = runner_.ints(512), in_ = runner_.ints(64);
};

TEST_F(ProductHazard, AFenceMakesStoresVisible) {
    EXPECT_EQ(report("fenced"), "");
    constexpr int kSixteen = 0x41800000;  // 16.0f
    EXPECT_EQ(out_[0], kSixteen);
}

TEST_F(ProductHazard, StoresThatNoFenceMakesVisible) {
    EXPECT_THAT(report("not_fenced"),
                AllOf(HasSubstr("hazard: a wgmma reads shared memory that no fence.proxy.async"),
                      HasSubstr("HGMMA"), HasSubstr("written by"), HasSubstr("STS")));
}

TEST_F(ProductHazard, WhatCpAsyncBringsNeedsNoFence) {
    constexpr int kTwoOnes = 0x3c003c00;  // as fp16
    for (int& pair : in_.first(4)) pair = kTwoOnes;
    EXPECT_EQ(report("filled_by_cp_async", in_.data()), "");
    constexpr int kSixteen = 0x41800000;  // 16.0f
    EXPECT_EQ(out_[0], kSixteen);
}

TEST_F(ProductHazard, ATileThatACopyHasYetToBring) {
    EXPECT_THAT(report("not_awaited", in_.data()),
                AllOf(HasSubstr("hazard: a wgmma reads a tile before the phase of its mbarrier"),
                      HasSubstr("HGMMA"), HasSubstr("copy by"), HasSubstr("UBLKCP")));
}

TEST_F(ProductHazard, TilesMayBeReusedOnceTheirProductWasWaitedFor) {
    EXPECT_EQ(report("reused_in_time"), "");
    EXPECT_EQ(runner_.device().findings(), 0u);
}

TEST_F(ProductHazard, AStoreIntoATileThatAPendingProductReads) {
    EXPECT_THAT(report("stored_too_early"),
                AllOf(HasSubstr("hazard: shared memory is written that a wgmma reads that has not "
                                "been waited for"),
                      HasSubstr("STS"), HasSubstr("wgmma by"), HasSubstr("HGMMA")));
}

TEST_F(ProductHazard, ACopyIntoATileThatAPendingProductReads) {
    EXPECT_THAT(report("copied_too_early", in_.data()),
                AllOf(HasSubstr("hazard: shared memory is written that a wgmma reads that has not "
                                "been waited for"),
                      HasSubstr("UBLKCP"), HasSubstr("wgmma by"), HasSubstr("HGMMA")));
}

}  // namespace
}  // namespace lockstep
