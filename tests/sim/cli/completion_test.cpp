// SPDX-License-Identifier: Apache-2.0
// Completion, as bash and zsh themselves call it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>

#include "tests/sim/cli/run_program.h"

namespace lockstep::cli {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> lines_of(const std::string& command) {
    std::FILE* pipe = popen(command.c_str(), "r");
    std::vector<std::string> lines(1);
    for (int c; (c = std::fgetc(pipe)) != EOF;) {
        if (c == '\n')
            lines.emplace_back();
        else
            lines.back() += static_cast<char>(c);
    }
    pclose(pipe);
    lines.pop_back();
    return lines;
}

bool has(const std::string& shell) {
    return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
}

/// What bash would offer: `words` as bash takes the line apart, the last under the cursor.
std::vector<std::string> in_bash(const std::string& line, const std::string& words) {
    const std::string script = temporary("completion.bash");
    std::ofstream(script) << "source <(lockstep completion bash)\nCOMP_LINE='" << line
                          << "'\nCOMP_POINT=${#COMP_LINE}\nCOMP_WORDS=(" << words
                          << ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_lockstep\n"
                          << "printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const auto lines = lines_of("cd " + source_path("tests/sim") +
                                " && PATH=" + binary_path("bin") + ":$PATH bash " + script);
    std::filesystem::remove(script);
    return lines == std::vector<std::string>{""} ? std::vector<std::string>() : lines;
}

/// Where bash splits at blanks alone.
std::vector<std::string> in_bash(const std::string& line) {
    return in_bash(line, line.ends_with(' ') ? line + "''" : line);
}

/// What zsh would add, by name.
std::vector<std::string> in_zsh(const std::string& words) {
    const std::string script = temporary("completion.zsh");
    std::ofstream(script) << "source <(lockstep completion zsh)\n"
                          << "compadd() { print -l -- ${(P)@[-1]} }\n_files() { print FILES }\n"
                          << "words=(" << words << ")\nCURRENT=${#words}\n_lockstep\n";
    const auto lines = lines_of("PATH=" + binary_path("bin") + ":$PATH zsh -f " + script);
    std::filesystem::remove(script);
    return lines;
}

TEST(Completion, OffersVerbsAndTheirOptions) {
    EXPECT_THAT(in_bash("lockstep co"), ElementsAre("compare", "completion"));
    EXPECT_THAT(in_bash("lockstep "), AllOf(Contains("run"), Contains("test"), Contains("sweep")));
    EXPECT_THAT(in_bash("lockstep "), Not(Contains("complete")));  // is nobody's to type
    EXPECT_THAT(in_bash("lockstep run --sta"), ElementsAre("--stats"));
    EXPECT_THAT(in_bash("lockstep run --launch-"), ElementsAre("--launch-skip", "--launch-count"));
    EXPECT_THAT(in_bash("lockstep run --stats a.json --sta"), IsEmpty());
    EXPECT_THAT(in_bash("lockstep sweep --vary a=1 --va"), ElementsAre("--vary"));
    EXPECT_THAT(in_bash("lockstep sweep --slurm"), ElementsAre("--slurm"));  // no --slurm-task
    EXPECT_THAT(in_bash("lockstep rum "), Contains("cli"));                  // files
}

TEST(Completion, OffersValues) {
    EXPECT_THAT(in_bash("lockstep run --mode "), ElementsAre("cycle", "emulate"));
    EXPECT_THAT(in_bash("lockstep run --l2 w"), ElementsAre("warm"));
    EXPECT_THAT(in_bash("lockstep run --on h1"), ElementsAre("h100", "h100_pcie"));
    EXPECT_THAT(in_bash("lockstep run --on h200,tpu_v5"), ElementsAre("h200,tpu_v5e"));
    EXPECT_THAT(in_bash("lockstep compare --suite m"), ElementsAre("micro"));
    EXPECT_THAT(in_bash("lockstep machines --diff h200 rtx2080t"), ElementsAre("rtx2080ti"));
    EXPECT_THAT(in_bash("lockstep machines --schema t"), ElementsAre("tpu"));
    EXPECT_THAT(in_bash("lockstep machines l40"), ElementsAre("l40s"));
    EXPECT_THAT(in_bash("lockstep run --stats cl"), ElementsAre("cli"));
    EXPECT_THAT(in_bash("lockstep completion z"), ElementsAre("zsh"));
}

TEST(Completion, OffersWorkloadsAndTheirParameters) {
    EXPECT_THAT(in_bash("lockstep run vector_a"), ElementsAre("vector_add"));
    EXPECT_THAT(in_bash("lockstep run resnet1"), ElementsAre("resnet18"));
    EXPECT_THAT(in_bash("lockstep run cl"), ElementsAre("cli"));  // a file
    EXPECT_THAT(in_bash("lockstep choose resnet1"), ElementsAre("resnet18"));
    // bash takes words apart at : and =.
    EXPECT_THAT(in_bash("lockstep run sgemm:", "lockstep run sgemm :"),
                AllOf(Contains("m="), Contains("n="), Contains("k=")));
    EXPECT_THAT(in_bash("lockstep run sgemm:m=512,", "lockstep run sgemm : m = 512,"),
                AllOf(Contains("512,n="), Not(Contains("512,m="))));
    EXPECT_THAT(in_bash("lockstep sweep vector_add:n=", "lockstep sweep vector_add : n ="),
                testing::SizeIs(1));
}

TEST(Completion, OffersParametersOfTheMachine) {
    EXPECT_THAT(in_bash("lockstep run --set sm.coun"), ElementsAre("sm.count="));
    EXPECT_THAT(in_bash("lockstep run --set sm.count=", "lockstep run --set sm.count ="),
                ElementsAre("132"));
    EXPECT_THAT(in_bash("lockstep run --on a100 --set sm.count=1",
                        "lockstep run --on a100 --set sm.count = 1"),
                ElementsAre("108"));
    EXPECT_THAT(in_bash("lockstep run --on tpu_v1 --set array.ro"), ElementsAre("array.rows="));
    EXPECT_THAT(in_bash("lockstep run --on tpu_v1 --set sm.coun"), IsEmpty());
    EXPECT_THAT(in_bash("lockstep sweep --on=tpu_v1 --vary array.ro",
                        "lockstep sweep --on = tpu_v1 --vary array.ro"),
                ElementsAre("array.rows="));
    const std::string mine = source_path("models/gpu/machines/examples/mine.yaml");
    EXPECT_THAT(in_bash("lockstep machines " + mine + " --set sm.count=",
                        "lockstep machines " + mine + " --set sm.count ="),
                ElementsAre("66"));
    EXPECT_THAT(in_bash("lockstep run --on nothing.yaml --set s"), IsEmpty());
}

TEST(Completion, LeavesTheProgramsArgumentsToFiles) {
    EXPECT_THAT(in_bash("lockstep run ./app -- --s"), IsEmpty());
    EXPECT_THAT(in_bash("lockstep run ./app -- cl"), ElementsAre("cli"));
}

TEST(Completion, WorksInZsh) {
    if (!has("zsh")) GTEST_SKIP() << "zsh is not installed";
    EXPECT_THAT(in_zsh("lockstep co"), ElementsAre("compare", "completion"));
    EXPECT_THAT(in_zsh("lockstep run --on h1"), ElementsAre("h100", "h100_pcie", "FILES"));
    EXPECT_THAT(in_zsh("lockstep run --set sm.coun"), ElementsAre("sm.count="));
    EXPECT_THAT(in_zsh("lockstep run --set sm.count="), ElementsAre("sm.count=132"));
    EXPECT_THAT(in_zsh("lockstep run --set l2.replacement="),
                ElementsAre("l2.replacement=lru", "l2.replacement=fifo", "l2.replacement=random",
                            "l2.replacement=tree_plru"));
    EXPECT_THAT(in_zsh("lockstep run sgemm:m=512,n"), ElementsAre("sgemm:m=512,n="));
    EXPECT_THAT(in_zsh("lockstep run --stats ''"), ElementsAre("FILES"));
}

TEST(Completion, ScriptsOfOtherShellsAreRefused) {
    const Result result = lockstep("completion fish");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.output, HasSubstr("bash"));
}

TEST(MachineFile, TheExampleRuns) {
    const std::string mine = source_path("models/gpu/machines/examples/mine.yaml");
    const Result shown = lockstep("machines --diff h200 " + mine);
    EXPECT_EQ(shown.status, 0);
    for (const char* what :
         {"sm.count", "tensor_core.macs.fp16", "l2.size", "dram.bandwidth", "clock.memory"})
        EXPECT_THAT(shown.output, HasSubstr(what));
    const Result run = lockstep("run hgemm:m=256,n=256,k=256 --verify --on " + mine);
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_THAT(run.output, HasSubstr("on mine"));
}

TEST(MachineFile, PrintsASchema) {
    EXPECT_THAT(lockstep("machines --schema gpu").output, HasSubstr("2020-12"));
    EXPECT_THAT(lockstep("machines --schema study").output, HasSubstr("\"vary\""));
    const Result wrong = lockstep("machines --schema cpu");
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.output, HasSubstr("gpu"));
    EXPECT_EQ(lockstep("machines h200 --schema gpu").status, 2);
}

}  // namespace
}  // namespace lockstep::cli
