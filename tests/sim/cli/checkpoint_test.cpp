// SPDX-License-Identifier: Apache-2.0
// Runs that were killed go on from their checkpoint, to the same statistics.
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

using testing::HasSubstr;

/// Files of one test, gone with it.
class Files {
  public:
    explicit Files(const std::string& name) : folder_(temporary(name)) {
        std::filesystem::create_directories(folder_);
    }
    ~Files() { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& file) const { return folder_ / file; }

  private:
    std::filesystem::path folder_;
};

std::string contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// Statistics but for what the simulator's own run took.
nlohmann::json results(const std::string& path) {
    nlohmann::json all = nlohmann::json::parse(contents(path));
    all.erase("simulator");
    return all;
}

/// The program, its messages and exit status.
Result shell(const std::string& script) {
    std::FILE* pipe = popen(("(" + script + ") 2>&1").c_str(), "r");
    std::string output;
    std::array<char, 4096> buffer;
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        output.append(buffer.data(), count);
    return {WEXITSTATUS(pclose(pipe)), output};
}

bool are_addresses_fixable() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;  // their shadow is no part of an image
#endif
    return std::system("setarch -R true >/dev/null 2>&1") == 0;
}

/// Runs a command to its first image, which comes after a second of CPU time, and kills it. The run
/// has to be several seconds long on this computer: another is faster.
Result kill_at_first_image(const std::string& command, const std::string& image) {
    return shell(command + " --checkpoint " + image + " --checkpoint-every 1 & p=$!; " +
                 "while kill -0 $p 2>/dev/null && ! [ -f " + image +
                 " ]; do sleep 0.05; done; kill -9 $p; wait $p");
}

/// A killed run goes on.
void check_resumed(const std::string& run, const std::string& name) {
    const Files files(name);
    const std::string whole = files.path("whole.json"), stats = files.path("stats.json"),
                      image = files.path("run.checkpoint");
    ASSERT_EQ(lockstep("run " + run + " --quiet --stats " + whole).status, 0);
    const std::string command =
        binary_path("bin/lockstep") + " run " + run + " --quiet --stats " + stats;
    const Result killed = kill_at_first_image(command, image);
    EXPECT_FALSE(std::filesystem::exists(stats)) << "ended before its first checkpoint";
    ASSERT_TRUE(std::filesystem::exists(image)) << killed.output;
    std::this_thread::sleep_for(std::chrono::seconds(2));
    const auto begin = std::chrono::steady_clock::now();
    const Result resumed = shell(command + " --resume " + image);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(resumed.status, 0) << resumed.output;
    EXPECT_EQ(results(stats), results(whole));
    // It went on: to the run, its begin lies before the pause.
    const nlohmann::json all = nlohmann::json::parse(contents(stats));
    EXPECT_GT(all["simulator"]["wall_seconds"].get<double>(), took.count() + 1.5);
}

TEST(Checkpoint, AKilledKernelGoesOn) {
    if (!are_addresses_fixable()) GTEST_SKIP() << "no fixed addresses here";
    check_resumed("hgemm:m=2048,n=1024,k=1024 --on a100 --verify", "kernel");
}

TEST(Checkpoint, AKilledNetworkGoesOn) {
    if (!are_addresses_fixable()) GTEST_SKIP() << "no fixed addresses here";
    check_resumed("resnet50 --on npu_mobile --verify", "npu");
}

TEST(Checkpoint, WhatDiffersIsRefusedByName) {
    if (!are_addresses_fixable()) GTEST_SKIP() << "no fixed addresses here";
    const Files files("refused");
    const std::string image = files.path("run.checkpoint");
    const std::string run = "run hgemm:m=4096,n=1024,k=1024 --on a100 --quiet";
    const Result killed = kill_at_first_image(binary_path("bin/lockstep") + " " + run, image);
    ASSERT_TRUE(std::filesystem::exists(image)) << killed.output;
    const auto refuses = [&](const std::string& arguments, const std::string& what) {
        const Result result = lockstep(arguments + " --resume " + image);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.output, HasSubstr(what)) << arguments;
    };
    refuses(run + " --seed 1", "this one has 'word --seed'");
    refuses("run hgemm:m=4096,n=1024,k=1024 --on h100 --quiet", "it has 'machine a100");
    const std::string good = contents(image);
    const auto with = [&](const std::string& bytes) { std::ofstream(image) << bytes; };
    with(good.substr(0, good.size() / 2));
    refuses(run, "cut off");
    with(good.substr(0, 40));
    refuses(run, "too short");
    std::string damaged = good;
    damaged[damaged.size() - 5000] ^= 1;
    with(damaged);
    refuses(run, "damaged");
    with("LSTRAIN1" + good.substr(8));
    refuses(run, "no checkpoint of a run");
    std::filesystem::remove(image);
    refuses(run, "cannot be read");
}

TEST(Checkpoint, WhatCannotBeKeptIsRefused) {
    const auto refuses = [](const std::string& arguments, const std::string& what) {
        const Result result = lockstep("run " + arguments);
        EXPECT_EQ(result.status, 2) << arguments;
        EXPECT_THAT(result.output, HasSubstr(what)) << arguments;
    };
    refuses("sgemm --checkpoint c --threads 2", "--threads 1 only");
    refuses("sgemm --checkpoint c --trace t.json", "not with --trace");
    refuses("sgemm --checkpoint c --html p.html", "not with --html");
    refuses("sgemm --checkpoint c --on h100,a100", "one machine at a time");
    refuses("mlp --checkpoint c --on host", "measured on this computer");
    refuses("sgemm --checkpoint-every 5", "of which --checkpoint?");
    refuses("sgemm --checkpoint c --checkpoint-every 0", "--checkpoint-every");
    refuses("sgemm --checkpoint /nowhere/c", "/nowhere/c");
    refuses("sgemn --checkpoint c", "did you mean sgemm?");
}

TEST(Checkpoint, OfATrainingIsWholeAfterCtrlCAndGoesOnToTheSameBits) {
    const Files files("interrupted_training");
    const std::string whole = files.path("whole"), state = files.path("state");
    const std::string train =
        " run digits_mlp:hidden=16 --train --on host --steps 40 --train-examples 200 "
        "--test-examples 50 --batch 5 --quiet --checkpoint-every 1 --checkpoint ";
    ASSERT_EQ(lockstep(train + whole).status, 0);
    // A shell lets what it starts in the background ignore the signal.
    const std::string command = binary_path("bin/lockstep") + train + state;
    const Result killed =
        shell("env --default-signal=INT " + command + " & p=$!; while ! [ -f " + state +
              " ] && kill -0 $p 2>/dev/null; do :; done; kill -INT $p; wait $p");
    ASSERT_TRUE(std::filesystem::exists(state)) << killed.output;
    const Result resumed = shell(command + " --resume " + state);
    // It may have ended before the signal came; then there is no more to train.
    if (killed.status != 0) {
        EXPECT_EQ(resumed.status, 0) << resumed.output;
    }
    EXPECT_EQ(contents(state), contents(whole));
    EXPECT_EQ(
        std::distance(
            std::filesystem::directory_iterator(std::filesystem::path(state).parent_path()), {}),
        2)
        << "nothing but the two states is left";
}

}  // namespace
}  // namespace lockstep::cli
