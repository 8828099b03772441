// SPDX-License-Identifier: Apache-2.0
// The examples as a project of their own: found by find_package(lockstep) in the build tree and in
// an installation.
#include <gmock/gmock.h>
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
void build(const std::string& prefix, const Folder& into) {
    const Result made =
        shell("cmake -S " + source_path("workloads/api/examples") + " -B " + into.path() +
              " -DCMAKE_PREFIX_PATH=" + prefix + " && cmake --build " + into.path());
    ASSERT_EQ(made.status, 0) << made.output;
}

std::string cubin() {
    return source_path("workloads/cuda/cubin/sm_90/vector_add.cubin");
}

TEST(Outside, AProjectFindsTheBuildTree) {
    const Folder folder("outside");
    build(binary_path(""), folder);
    const Result run = shell(folder.path("kernel_and_network ") + cubin());
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.output, HasSubstr("sum[9999] = 9999.5"));
    EXPECT_THAT(run.output, HasSubstr("mlp on tpu_v1"));
    const Result wrong = shell(folder.path("kernel_and_network ") + "nothing.cubin");
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.output, HasSubstr("nothing.cubin"));
}

TEST(Outside, AProjectFindsAnInstallation) {
    const Folder prefix("installed"), folder("outside");
    const Result installed =
        shell("cmake --install " + binary_path("") + " --prefix " + prefix.path());
    ASSERT_EQ(installed.status, 0) << installed.output;
    EXPECT_FALSE(fs::exists(prefix.path("include/sim")));
    build(prefix.path(), folder);
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
