// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/rooms.h"

#include <gmock/gmock.h>

namespace lockstep::docs {
namespace {

std::string order(std::initializer_list<const char*> paths) {
    std::vector<Page> pages;
    std::vector<Problem> problems;
    for (const char* path : paths) pages.push_back(read_page({path, "# T\n"}, problems));
    std::string text;
    for (const Room& room : rooms_of(pages)) {
        text += room.name + ":";
        for (const Page* const page : room.pages) text += " " + page->path;
        text += "; ";
    }
    return text;
}

TEST(Rooms, AreInTheOrderOfTheTableWithReadmesFirst) {
    EXPECT_EQ(order({"models/gpu/about.md", "isa/sass/README.md", "models/gpu/README.md",
                     "models/gpu/sm/README.md", "README.md"}),
              "Start: README.md; GPU: models/gpu/README.md models/gpu/about.md "
              "models/gpu/sm/README.md isa/sass/README.md; ");
}

TEST(Rooms, LabsStandTogetherWhereverTheyLie) {
    EXPECT_EQ(order({"models/npu/lab.md", "models/npu/README.md"}),
              "Labs: models/npu/lab.md; NPU: models/npu/README.md; ");
}

TEST(Rooms, TakeAPageThatNoRowNames) {
    EXPECT_EQ(order({"elsewhere/README.md"}), "More: elsewhere/README.md; ");
    EXPECT_EQ(order({"models/gpux/README.md"}), "Systems and memory: models/gpux/README.md; ");
}

}  // namespace
}  // namespace lockstep::docs
