// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/loader/vendor_library.h"

#include <gmock/gmock.h>

namespace lockstep::cuda {
namespace {

TEST(VendorLibrary, AreKnownByTheBeginningsOfTheirNames) {
    EXPECT_EQ(vendor_library("libcublas.so.13"), "cuBLAS");
    EXPECT_EQ(vendor_library("/usr/local/cuda/lib64/libcublasLt.so.12"), "cuBLAS");
    EXPECT_EQ(vendor_library("libcudnn_ops.so.9"), "cuDNN");
    EXPECT_EQ(vendor_library("libcufft.so"), "cuFFT");
    for (const char* name : {"libcudart.so.13", "libcuda.so.1", "libnvrtc.so.13", "libc.so.6",
                             "libcublas_notes.txt", "libmine.so", ""})
        EXPECT_EQ(vendor_library(name), "") << name;
}

TEST(VendorLibrary, OneThatWorksPartlyIsNotRefused) {
    EXPECT_EQ(vendor_library("libcurand.so.10"), "");
    EXPECT_TRUE(works_partly("/usr/lib/libcurand.so.10"));
    EXPECT_FALSE(works_partly("libcublas.so.13"));
    EXPECT_FALSE(works_partly("libmine.so"));
}

TEST(VendorLibrary, TheMessageIsOneLineThatNamesBothAndWhatWorks) {
    const std::string message = vendor_library_message("/x/libcublas.so.13", "./app");
    EXPECT_THAT(message, testing::StartsWith("./app needs libcublas.so.13 (cuBLAS)"));
    EXPECT_THAT(message, testing::HasSubstr("not supported"));
    EXPECT_THAT(message, testing::HasSubstr("What works"));
    EXPECT_EQ(message.find('\n'), message.npos);
}

}  // namespace
}  // namespace lockstep::cuda
