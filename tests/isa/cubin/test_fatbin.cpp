// SPDX-License-Identifier: Apache-2.0
// Fatbins of nvcc 13.0 in its three ways of compressing, and which image a machine gets.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "isa/cubin/cubin.h"
#include "isa/cubin/fatbin.h"
#include "isa/cubin/ptxas.h"
#include "sim/error/error.h"
#include "tests/isa/cubin/elf_builder.h"
#include "tests/isa/cubin/test_data.h"

namespace lockstep::cubin {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string text(const std::vector<uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
}

TEST(Fatbin, HoldsTheSameImagesHoweverCompressed) {
    const std::vector<uint8_t> plain = read_data("tiny_none.fatbin");
    const std::vector<Image> expected = parse_fatbin(plain, "tiny_none.fatbin");
    ASSERT_EQ(expected.size(), 4u);
    for (const char* name : {"tiny_speed.fatbin", "tiny_size.fatbin"}) {
        const std::vector<uint8_t> bytes = read_data(name);
        const std::vector<Image> images = parse_fatbin(bytes, name);
        ASSERT_EQ(images.size(), expected.size()) << name;
        for (size_t i = 0; i < images.size(); ++i) {
            EXPECT_EQ(images[i].kind, expected[i].kind);
            EXPECT_EQ(images[i].arch, expected[i].arch);
            EXPECT_EQ(images[i].accelerated, expected[i].accelerated);
            EXPECT_EQ(images[i].options, expected[i].options);
            EXPECT_EQ(payload(images[i], name), payload(expected[i], "plain")) << name << i;
        }
    }
}

TEST(Fatbin, UsesEveryCompression) {
    const auto uses = [](const std::string& name, Compression compression) {
        const std::vector<uint8_t> bytes = read_data(name);
        bool found = false;
        for (const Image& image : parse_fatbin(bytes, name))
            found |= image.compression == compression;
        return found;
    };
    EXPECT_FALSE(uses("tiny_none.fatbin", Compression::kLz4));
    EXPECT_FALSE(uses("tiny_none.fatbin", Compression::kZstd));
    EXPECT_TRUE(uses("tiny_speed.fatbin", Compression::kLz4));
    EXPECT_TRUE(uses("tiny_size.fatbin", Compression::kZstd));
}

TEST(Fatbin, ImagesAreWhatTheirHeadersSay) {
    const std::vector<uint8_t> bytes = read_data("tiny_size.fatbin");
    for (const Image& image : parse_fatbin(bytes, "tiny_size.fatbin")) {
        const std::vector<uint8_t> contents = payload(image, "tiny_size.fatbin");
        if (image.kind == ImageKind::kElf) {
            const Cubin cubin = parse(contents, "image");
            EXPECT_EQ(cubin.arch, image.arch);
            EXPECT_NE(cubin.find_function("tiny"), nullptr);
        } else {
            EXPECT_THAT(text(contents), HasSubstr(".target sm_80"));
            EXPECT_NE(contents.back(), 0);
            EXPECT_EQ(image.options, "-O2");
            EXPECT_EQ(image.version_major, 9);
            EXPECT_EQ(image.version_minor, 0);
        }
    }
}

TEST(Fatbin, OfCuda11) {
    const std::vector<uint8_t> bytes = read_data("tiny_cuda11.fatbin");
    const std::vector<Image> images = parse_fatbin(bytes, "tiny_cuda11.fatbin");
    ASSERT_EQ(images.size(), 3u);
    for (const Image& image : images) EXPECT_EQ(image.compression, Compression::kLz4);
    for (int arch : {70, 80}) {
        const Cubin cubin = parse(cubin_for(images, arch, "t"), "t");
        EXPECT_EQ(cubin.arch, arch);
        EXPECT_EQ(cubin.elf_abi, 7);
    }
    EXPECT_EQ(images[2].version_major, 7);
    EXPECT_EQ(images[2].version_minor, 8);
    EXPECT_THAT(text(payload(images[2], "t")), HasSubstr(".target sm_70"));
}

TEST(Fatbin, SeveralInARow) {
    const std::vector<uint8_t> one = read_data("tiny_size.fatbin");
    std::vector<uint8_t> bytes = one;
    bytes.insert(bytes.end(), 24, 0);
    bytes.insert(bytes.end(), one.begin(), one.end());
    bytes.insert(bytes.end(), 7, 0);
    EXPECT_EQ(parse_fatbin(bytes, "two").size(), 8u);
    EXPECT_EQ(fatbin_bytes(std::span<const uint8_t>(bytes).first<kFatbinHeaderBytes>(), "two"),
              one.size());
    bytes.back() = 1;
    EXPECT_THROW(parse_fatbin(bytes, "two"), InputError);
}

Image image(ImageKind kind, int arch, bool accelerated = false, bool family = false) {
    Image result;
    result.kind = kind;
    result.arch = arch;
    result.accelerated = accelerated;
    result.family = family;
    return result;
}

TEST(Fatbin, ChoosesAsTheDriverDoes) {
    const Image sm75 = image(ImageKind::kElf, 75), sm80 = image(ImageKind::kElf, 80),
                sm86 = image(ImageKind::kElf, 86), sm90 = image(ImageKind::kElf, 90),
                sm90a = image(ImageKind::kElf, 90, true), ptx70 = image(ImageKind::kPtx, 70),
                ptx80 = image(ImageKind::kPtx, 80), ptx90a = image(ImageKind::kPtx, 90, true),
                sm100f = image(ImageKind::kElf, 100, false, true),
                other = image(ImageKind::kOther, 90);
    const auto chosen = [](const std::vector<Image>& images, int arch) {
        const Image* found = choose_image(images, arch);
        return found == nullptr ? -1 : static_cast<int>(found - images.data());
    };
    EXPECT_EQ(chosen({sm75, sm80, sm90}, 80), 1);    // exactly this machine
    EXPECT_EQ(chosen({ptx80, sm80}, 80), 1);         // SASS before PTX
    EXPECT_EQ(chosen({sm80, sm86}, 89), 1);          // the highest minor version below
    EXPECT_EQ(chosen({sm86}, 80), -1);               // never of a later machine
    EXPECT_EQ(chosen({sm80, sm86}, 90), -1);         // never across major versions
    EXPECT_EQ(chosen({sm80, ptx70, ptx80}, 90), 2);  // the highest PTX
    EXPECT_EQ(chosen({ptx80}, 75), -1);              // PTX is not for older machines
    EXPECT_EQ(chosen({sm90, sm90a}, 90), 1);         // the more special one first
    EXPECT_EQ(chosen({sm90a}, 90), 0);               // an H200 runs sm_90a
    EXPECT_EQ(chosen({sm90a, ptx90a}, 100), -1);     // but nothing else does
    EXPECT_EQ(chosen({sm90a, ptx80}, 100), 1);       //
    EXPECT_EQ(chosen({sm100f}, 103), 0);             // families: later minor versions
    EXPECT_EQ(chosen({sm100f}, 120), -1);            //
    EXPECT_EQ(chosen({other}, 90), -1);              // IR for link-time optimisation
    EXPECT_EQ(chosen({}, 90), -1);
}

TEST(Fatbin, SaysWhatItHasWhereNothingFits) {
    const std::vector<Image> images = {image(ImageKind::kElf, 75), image(ImageKind::kElf, 90, true),
                                       image(ImageKind::kPtx, 100)};
    try {
        const Targets machines = {{"v100", 70}, {"t4", 75}, {"h100", 90}, {"other", 121}};
        cubin_for(images, 80, "program", [&] { return machines; });
        FAIL();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("program: no code for sm_80 (it has sm_75, sm_90a, "
                                            "compute_100)"));
        EXPECT_THAT(error.what(), HasSubstr("-arch=sm_80"));
        EXPECT_THAT(error.what(), HasSubstr("--on t4 or h100 or other"));
    }
}

TEST(Fatbin, GivesTheCubinOfAMachine) {
    const std::vector<uint8_t> bytes = read_data("tiny_speed.fatbin");
    const std::vector<Image> images = parse_fatbin(bytes, "tiny_speed.fatbin");
    EXPECT_EQ(parse(cubin_for(images, 75, "t"), "t").arch, 75);
    EXPECT_EQ(parse(cubin_for(images, 89, "t"), "t").arch, 80);
    EXPECT_EQ(parse(cubin_for(images, 90, "t"), "t").arch, 90);
}

TEST(Fatbin, CompilesPtxWhereAPtxasIsInstalled) {
    if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas is installed";
    const std::vector<uint8_t> bytes = read_data("tiny_size.fatbin");
    const std::vector<Image> images = parse_fatbin(bytes, "tiny_size.fatbin");
    const Cubin cubin = parse(cubin_for(images, 100, "t"), "t");
    EXPECT_EQ(cubin.arch, 100);
    EXPECT_EQ(cubin.find_function("tiny")->parameter_bytes, 8u);
}

std::string compile_error(std::string_view ptx, std::string_view options) {
    try {
        const auto* bytes = reinterpret_cast<const uint8_t*>(ptx.data());
        compile_ptx({bytes, ptx.size()}, "sm_90", options, "program");
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

// A directory whose only program is a ptxas that does what `script` says.
class FakePtxas {
  public:
    explicit FakePtxas(const std::string& script) {
        std::filesystem::create_directories(root_ / "bin");
        std::ofstream(root_ / "bin/ptxas") << "#!/bin/sh\n" << script;
        std::filesystem::permissions(root_ / "bin/ptxas", std::filesystem::perms::owner_all);
        setenv("CUDA_PATH", root_.c_str(), 1);
        setenv("TMPDIR", root_.c_str(), 1);
    }
    ~FakePtxas() {
        unsetenv("CUDA_PATH");
        unsetenv("TMPDIR");
        std::filesystem::remove_all(root_);
    }
    /// Files left in the temporary directory, besides bin.
    size_t files_left() const {
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(root_), {})) -
               1;
    }

  private:
    std::filesystem::path root_ = std::filesystem::temp_directory_path() /
                                  ("lockstep-test-ptxas-" + std::to_string(getpid()));
};

TEST(Ptxas, FailureIsTheUsersWithWhatItSaid) {
    const FakePtxas fake("echo 'line 3: no such thing'; exit 7");
    const std::string error = compile_error(".version 7.8", "");
    EXPECT_THAT(error, StartsWith("program: "));
    EXPECT_THAT(error, HasSubstr("status 7"));
    EXPECT_THAT(error, HasSubstr("line 3: no such thing"));
    EXPECT_EQ(fake.files_left(), 0u);
}

TEST(Ptxas, PassesOnHarmlessOptionsOnly) {
    const FakePtxas fake("echo \"$@\"; exit 1");
    const std::string error =
        compile_error("", "-O1 -fmad=false --output-file /etc/x -maxrregcount=64 -o /tmp/x -v");
    EXPECT_THAT(error, HasSubstr("out.cubin -O1 -fmad=false -maxrregcount=64\n"));
    EXPECT_THAT(error, HasSubstr("-arch=sm_90 "));
}

TEST(Fatbin, RefusesToInflateHostileSizes) {
    std::vector<uint8_t> bytes = read_data("tiny_size.fatbin");
    const std::vector<Image> images = parse_fatbin(bytes, "x");
    for (Image i : images) {
        if (i.compression == Compression::kNone) continue;
        i.size = uint64_t{4} << 30;
        EXPECT_THROW(payload(i, "x"), InputError);
        i.size = 8u << 20;  // allowed, but not what the data hold
        EXPECT_THROW(payload(i, "x"), InputError);
    }
}

}  // namespace
}  // namespace lockstep::cubin
