// SPDX-License-Identifier: Apache-2.0
#include "sim/file/new_file.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/error/error.h"

namespace lockstep::file {
namespace {

namespace fs = std::filesystem;
using Scratch = NewFile::Scratch;

class NewFileTest : public testing::TestWithParam<Scratch> {
  protected:
    NewFileTest() { fs::create_directory(folder_); }
    ~NewFileTest() override { fs::remove_all(folder_); }
    static std::string read(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::vector<std::string> names() const {
        std::vector<std::string> result;
        for (const auto& entry : fs::directory_iterator(folder_))
            result.push_back(entry.path().filename());
        return result;
    }
    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("new_file_" + std::to_string(getpid()));
};

TEST_P(NewFileTest, HasItsNameWhenItIsWhole) {
    const fs::path path = folder_ / "a.txt";
    std::ofstream(path) << "old";
    {
        NewFile file(path, GetParam());
        std::fputs("new", file.stream());
        EXPECT_EQ(read(path), "old");
        file.publish();
        EXPECT_EQ(read(path), "new");
        std::fputs(" and more", file.stream());
        file.publish();
    }
    EXPECT_EQ(read(path), "new and more");
    EXPECT_THAT(names(), testing::ElementsAre("a.txt"));
}

TEST_P(NewFileTest, LeavesNothingWhereItIsGivenUpOrTheProcessKilled) {
    { NewFile(folder_ / "a.txt", GetParam()); }
    const pid_t child = fork();
    if (child == 0) {
        NewFile file(folder_ / "b.txt", GetParam());
        std::fputs("half", file.stream());
        std::fflush(file.stream());
        raise(SIGKILL);
    }
    waitpid(child, nullptr, 0);
    EXPECT_THAT(names(), testing::IsEmpty());
}

TEST_P(NewFileTest, ALinkStaysOneAndAFolderMayBeLeft) {
    std::ofstream(folder_ / "target") << "old";
    fs::create_symlink(folder_ / "target", folder_ / "link");
    const fs::path before = fs::current_path();
    fs::current_path(folder_);
    {
        NewFile linked("link", GetParam()), relative("relative", GetParam());
        fs::current_path(before);
        std::fputs("new", linked.stream());
        linked.publish();
        relative.publish();
    }
    EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
    EXPECT_EQ(read(folder_ / "target"), "new");
    EXPECT_TRUE(fs::exists(folder_ / "relative"));
}

INSTANTIATE_TEST_SUITE_P(Both, NewFileTest, testing::Values(Scratch::kBeside, Scratch::kElsewhere));

TEST(NewFile, SaysAtOnceWhatCannotBeWritten) {
    EXPECT_THROW(NewFile file("/no such folder/a"), InputError);
    EXPECT_THROW(NewFile file(testing::TempDir()), InputError);
    NewFile device("/dev/null");
    device.publish();
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace lockstep::file
