// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/error/error.h"

namespace lockstep::docs {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
  protected:
    Folder() {
        fs::remove_all(base_);
        fs::create_directories(base_);
    }
    ~Folder() override { fs::remove_all(base_); }

    std::string read(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    std::size_t entries() {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(base_), fs::directory_iterator()));
    }

    fs::path base_ = fs::path(::testing::TempDir()) /
                     ("docs_folder_" +
                      std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::path out_ = base_ / "out";
};

TEST_F(Folder, IsWrittenWithItsFolders) {
    write_folder(out_, {{"a.html", "A"}, {"b/c/d.html", "D"}}, "a.html");
    EXPECT_EQ(read(out_ / "a.html"), "A");
    EXPECT_EQ(read(out_ / "b/c/d.html"), "D");
    EXPECT_EQ(entries(), 1u);  // nothing is left beside it
}

TEST_F(Folder, ReplacesAnEmptyOneAndItsOwn) {
    fs::create_directory(out_);
    write_folder(out_.string() + "/", {{"a", "1"}, {"old", "1"}}, "a");
    write_folder(out_, {{"a", "2"}}, "a");
    EXPECT_EQ(read(out_ / "a"), "2");
    EXPECT_FALSE(fs::exists(out_ / "old"));
    EXPECT_EQ(entries(), 1u);
}

TEST_F(Folder, LeavesOthersFilesAlone) {
    fs::create_directory(out_);
    std::ofstream(out_ / "thesis.tex") << "mine";
    EXPECT_THROW(write_folder(out_, {{"a", "1"}}, "a"), InputError);
    EXPECT_EQ(read(out_ / "thesis.tex"), "mine");
    EXPECT_EQ(entries(), 1u);
    std::ofstream(base_ / "file") << "mine";
    EXPECT_THROW(write_folder(base_ / "file", {{"a", "1"}}, "a"), InputError);
    EXPECT_EQ(read(base_ / "file"), "mine");
}

TEST_F(Folder, IsNotThereAtAllWhereOneFileCannotBeWritten) {
    // "a" is a file and a folder: the second of the two fails.
    EXPECT_THROW(write_folder(out_, {{"a", "1"}, {"a/b", "2"}}, "a"), InputError);
    EXPECT_EQ(entries(), 0u);
    EXPECT_THROW(write_folder(base_ / "no/such/folder", {{"a", "1"}}, "a"), InputError);
}

}  // namespace
}  // namespace lockstep::docs
