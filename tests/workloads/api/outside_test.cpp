// SPDX-License-Identifier: Apache-2.0
// The examples as a project of their own: found by find_package(lockstep) in the build tree and in
// an installation.
#include <gmock/gmock.h>
#include <lockstep/lockstep.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "tests/paths.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Result {
    int status;
    std::string output;
};

Result shell(const std::string& command) {
    std::FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.append(buffer.data(), count);
    return {WEXITSTATUS(pclose(pipe)), output};
}

/// A folder that goes away again.
class Folder {
  public:
    explicit Folder(const std::string& name)
        : path_(fs::path(testing::TempDir()) / (name + std::to_string(getpid()))) {
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    std::string path(const std::string& of = "") const { return path_ / of; }

  private:
    fs::path path_;
};

/// Configures and builds the examples against what is found under `prefix`.
void build(const std::string& prefix, const Folder& into, const std::string& target = "all") {
    const Result made = shell("cmake -S " + source_path("workloads/api/examples") + " -B " +
                              into.path() + " -DCMAKE_PREFIX_PATH=" + prefix +
                              " && cmake --build " + into.path() + " --target " + target);
    ASSERT_EQ(made.status, 0) << made.output;
}

std::string cubin() {
    return source_path("workloads/cuda/cubin/sm_90/vector_add.cubin");
}

/// What stands behind `label` on each line that has it, up to the next blank.
std::vector<std::string> words_behind(const std::string& text, const std::string& label) {
    std::vector<std::string> words;
    for (std::size_t at = 0; (at = text.find(label, at)) != std::string::npos;) {
        at += label.size();
        words.push_back(text.substr(at, text.find(' ', at) - at));
    }
    return words;
}

/// Cycles of the example's two launches by the library, with memory as the platform has it.
std::vector<std::string> cycles_by_hand() {
    constexpr int kElements = 10000;
    constexpr api::Address kData = 2 << 20, kBytes = kElements * sizeof(float);
    api::Device device(api::Machine("h200", {"sm.count=8"}));
    const api::Address first = device.allocate(64 << 20) + kData;
    const api::Module module = device.load(cubin());
    std::vector<std::string> cycles;
    for (int launch = 0; launch < 2; ++launch)
        cycles.push_back(
            std::to_string(device
                               .launch(module, "vector_add", {.grid = {40}, .block = {256}},
                                       {first, first + kBytes, first + 2 * kBytes, kElements})
                               .cycles));
    return cycles;
}

void check_virtual_platform(const Folder& folder) {
    const auto platform = [&](const std::string& arguments) {
        return shell(folder.path("virtual_platform ") + arguments);
    };
    const Result own = platform(cubin());
    EXPECT_EQ(own.status, 0) << own.output;
    EXPECT_THAT(own.output, HasSubstr("right after"));
    const auto by_own = words_behind(own.output, "launch 0: "),
               second = words_behind(own.output, "launch 1: ");
    ASSERT_THAT(by_own, testing::SizeIs(1));
    ASSERT_THAT(second, testing::SizeIs(1));
    EXPECT_EQ((std::vector{by_own[0], second[0]}), cycles_by_hand());
    const Result near = platform(cubin() + " 100"), far = platform(cubin() + " 500");
    EXPECT_EQ(near.status, 0) << near.output;
    EXPECT_EQ(far.status, 0) << far.output;
    const int more = std::stoi(words_behind(far.output, "launch 0: ").at(0)) -
                     std::stoi(words_behind(near.output, "launch 0: ").at(0));
    // Data waits for all of the latency; before it code does, in as far as it is not fetched ahead.
    constexpr double kCyclesByNanosecond = 1.98, kMore = 400 * kCyclesByNanosecond;
    EXPECT_GE(more, kMore - 10);
    EXPECT_LE(more, 2 * kMore + 10);
    EXPECT_EQ(words_behind(near.output, "DRAM saw "), words_behind(far.output, "DRAM saw "));
    const Result traced = platform(cubin() + " 0 " + folder.path("waves"));
    EXPECT_EQ(traced.status, 0) << traced.output;
    EXPECT_EQ(words_behind(traced.output, "launch 1: "), second);
    const std::string waves = shell("cat " + folder.path("waves.vcd")).output;
    EXPECT_THAT(waves, HasSubstr("$enddefinitions"));
    EXPECT_GT(std::count(waves.begin(), waves.end(), '#'), 100);
    const Result wrong = platform("/dev/null");
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.output, HasSubstr("this is no cubin"));
}

/// A project of its own is not built with this one's sanitizers, which must come first.
constexpr bool kHasSanitizer =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

TEST(Outside, AProjectFindsTheBuildTree) {
    if (kHasSanitizer) GTEST_SKIP() << "a build with sanitizers";
    const Folder folder("outside");
    build(binary_path(""), folder);
    const Result run = shell(folder.path("kernel_and_network ") + cubin());
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.output, HasSubstr("sum[9999] = 9999.5"));
    EXPECT_THAT(run.output, HasSubstr("mlp on tpu_v1"));
    const Result wrong = shell(folder.path("kernel_and_network ") + "nothing.cubin");
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.output, HasSubstr("nothing.cubin"));
    check_virtual_platform(folder);
}

TEST(Outside, AProjectFindsAnInstallation) {
    if (kHasSanitizer) GTEST_SKIP() << "a build with sanitizers";
    const Folder prefix("installed"), folder("outside");
    const Result installed =
        shell("cmake --install " + binary_path("") + " --prefix " + prefix.path());
    ASSERT_EQ(installed.status, 0) << installed.output;
    EXPECT_FALSE(fs::exists(prefix.path("include/sim")));
    build(prefix.path(), folder, "kernel_and_network");
    const Result run = shell(folder.path("kernel_and_network ") + cubin());
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.output, HasSubstr("sum[9999] = 9999.5"));
    const Result program = shell(prefix.path("bin/lockstep") + " run vector_add:n=32 --verify");
    EXPECT_EQ(program.status, 0) << program.output;
}

/// The interpreter that the Python module is built for.
Result python(const std::string& script) {
    return shell("cd " + source_path("") + " && PYTHONPATH=" + binary_path("lib/python") +
                 " PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 " + script);
}

bool has_python() {
    return fs::exists(binary_path("lib/python"));
}

TEST(Python, TheNotebookRuns) {
    if (!has_python()) GTEST_SKIP() << "pybind11-dev or python3-dev is not installed";
    const Result run = python("workloads/api/examples/sweep.py");
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_THAT(run.output, HasSubstr("c[999] = 999.5"));
    EXPECT_THAT(run.output, HasSubstr("mlp on tpu_v1: 10 outputs"));
}

TEST(Python, TheModuleDoesWhatTheLibraryDoes) {
    if (!has_python()) GTEST_SKIP() << "pybind11-dev or python3-dev is not installed";
    const Result run = python("tests/workloads/api/module_test.py");
    EXPECT_EQ(run.status, 0) << run.output;
}

}  // namespace
}  // namespace lockstep
