// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/lab_page.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::docs {
namespace {

TEST(LabPage, ShowsStepsCommandsAndQuestions) {
    EXPECT_EQ(lab_page("lab: l\ntitle: T\ngoal: G\nminutes: 60\nsheet: a/b.md\nsteps:\n"
                       "  - title: S\n    text: |\n      X\n    widget: {name: w}\n"
                       "    commands: [run a]\n    questions:\n"
                       "      - {id: q, ask: 'How many?', number: {unit: cycles}}\n"
                       "      - {id: r, ask: 'Which?', choice: {a: one, b: two}}\n"),
              "# T\nG\n\nSome 60 minutes. `./lockstep lab` has it in the browser, with "
              "pictures and checked answers; `./lockstep lab l` in the terminal. Further: "
              "`a/b.md`.\n\n## 1. S\nX\n\nIn the browser a picture of the model's run stands "
              "here.\n\n```\n$ ./lockstep run a\n```\n- How many? (cycles)\n- Which?\n  - one\n  - "
              "two\n\n");
}

TEST(LabPage, SaysWhatIsWrong) {
    EXPECT_THROW(lab_page("[1, 2"), InputError);
}

}  // namespace
}  // namespace lockstep::docs
