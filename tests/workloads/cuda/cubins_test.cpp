// SPDX-License-Identifier: Apache-2.0
// The committed cubins are what nvcc 13.0 makes of the committed sources.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include "tests/paths.h"
#include "workloads/cuda/kernel_images.h"

namespace lockstep::cuda {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(source_path()) / "workloads/cuda";

std::string output_of(const std::string& command) {
    std::string output;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return output;
    std::array<char, 256> buffer{};
    while (const std::size_t size = fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.append(buffer.data(), size);
    }
    pclose(pipe);
    return output;
}

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of sources and an architecture that they are compiled for.
struct Compiled {
    const char* folder;
    int arch;
    const char* suffix = "";
    std::string target() const { return fmt::format("sm_{}{}", arch, suffix); }
    friend void PrintTo(const Compiled& compiled, std::ostream* out) {
        *out << compiled.folder << " " << compiled.target();
    }
};

/// Where the image of a kernel lies that needs instructions of one generation alone, as its name
/// says; empty: of the others.
std::string own_target(const std::string& name) {
    if (name.find("wgmma") != std::string::npos) return "sm_90a";
    return name == "product_fp8" ? "sm_89" : "";
}

std::string target_of(const std::string& name, const Compiled& compiled) {
    const std::string own = own_target(name);
    return own.empty() ? compiled.target() : own;
}

/// Whether it is of instructions that the architecture lacks: Tensor Cores that came later.
bool is_beyond(const std::string& name, int arch) {
    if (!own_target(name).empty()) return kernel_image(name, arch).empty();
    const bool is_newer = arch < 80 || name.find("fp8") != std::string::npos;
    const auto archs = kernel_archs(name);
    return is_newer && !archs.empty() && arch < archs.front();
}

class Cubins : public testing::TestWithParam<Compiled> {};
/// Compiling takes long: one architecture of the microbenchmarks stands for all.
class Rebuilt : public Cubins {};

TEST_P(Cubins, EverySourceHasItsImageInTheProgram) {
    for (const auto& entry : fs::directory_iterator(kFolder / GetParam().folder)) {
        if (entry.path().extension() != ".cu") continue;
        const std::string name = entry.path().stem();
        const auto image = kernel_image(name, GetParam().arch);
        if (is_beyond(name, GetParam().arch)) continue;
        const fs::path file = kFolder / "cubin" / target_of(name, GetParam()) / (name + ".cubin");
        EXPECT_FALSE(image.empty()) << name;
        EXPECT_TRUE(std::string(image.begin(), image.end()) == contents(file)) << name;
    }
}

TEST_P(Rebuilt, AreWhatTheCompilerMakes) {
    const std::string nvcc = LOCKSTEP_NVCC;
    if (nvcc.empty() || output_of(nvcc + " --version").find("V13.0.88") == std::string::npos) {
        GTEST_SKIP() << "SKIPPED: no nvcc 13.0 (V13.0.88) to rebuild the cubins with";
    }
    const fs::path made =
        fs::path(testing::TempDir()) /
        fmt::format("lockstep_rebuilt_{}_{}.cubin", GetParam().folder, GetParam().target());
    for (const auto& entry : fs::directory_iterator(kFolder / GetParam().folder)) {
        if (entry.path().extension() != ".cu") continue;
        const std::string name = entry.path().stem();
        const std::string arch = target_of(name, GetParam());
        const std::string command = nvcc + " -O3 -arch=" + arch + " -cubin -o " + made.string() +
                                    " " + entry.path().string();
        ASSERT_EQ(std::system(command.c_str()), 0) << command;
        const fs::path committed = kFolder / "cubin" / arch / (name + ".cubin");
        EXPECT_TRUE(contents(made) == contents(committed)) << committed << ": run ninja cubins";
    }
    fs::remove(made);
}

std::string test_name(const testing::TestParamInfo<Compiled>& test) {
    return test.param.folder + std::string("_") + std::to_string(test.param.arch);
}

INSTANTIATE_TEST_SUITE_P(Sm, Cubins,
                         testing::Values(Compiled{"kernels", 80}, Compiled{"kernels", 90},
                                         Compiled{"micro", 75}, Compiled{"micro", 80},
                                         Compiled{"micro", 86}, Compiled{"micro", 90},
                                         Compiled{"hopper", 90, "a"}, Compiled{"network", 75},
                                         Compiled{"network", 80}, Compiled{"network", 90}),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Sm, Rebuilt,
                         testing::Values(Compiled{"kernels", 80}, Compiled{"kernels", 90},
                                         Compiled{"micro", 90}, Compiled{"hopper", 90, "a"},
                                         Compiled{"network", 90}),
                         test_name);

TEST(KernelImage, ServesTheArchitecturesOfItsMajorRevision) {
    EXPECT_EQ(kernel_image("relu", 86).data(), kernel_image("relu", 80).data());
    EXPECT_EQ(kernel_image("relu", 89).data(), kernel_image("relu", 80).data());
    EXPECT_NE(kernel_image("relu", 90).data(), kernel_image("relu", 80).data());
    EXPECT_NE(kernel_image("micro_chase", 86).data(), kernel_image("micro_chase", 80).data());
    EXPECT_EQ(kernel_image("micro_chase", 89).data(), kernel_image("micro_chase", 86).data());
    EXPECT_TRUE(kernel_image("relu", 75).empty());
    EXPECT_FALSE(kernel_image("product_fp8", 89).empty());
    EXPECT_TRUE(kernel_image("product_fp8", 90).empty());
    EXPECT_NE(kernel_image("round_fp8", 89).data(), kernel_image("round_fp8", 90).data());
    EXPECT_TRUE(kernel_image("relu", 100).empty());
    EXPECT_TRUE(kernel_image("no such kernel", 90).empty());
    EXPECT_TRUE(kernel_image("hgemm_wgmma", 89).empty());
    EXPECT_EQ(kernel_archs("relu"), (std::vector{80, 90}));
    EXPECT_EQ(kernel_archs("hgemm_wgmma"), std::vector{90});
}

}  // namespace
}  // namespace lockstep::cuda
