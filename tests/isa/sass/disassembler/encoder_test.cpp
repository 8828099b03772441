// SPDX-License-Identifier: Apache-2.0
// Taking a word apart by the table and putting it together again changes no bit the table covers.
#include "isa/sass/disassembler/encoder.h"

#include <gtest/gtest.h>

#include "tests/isa/sass/disassembler/listing.h"

namespace lockstep::sass {
namespace {

class Encoder : public testing::TestWithParam<const char*> {};

TEST_P(Encoder, GivesBackEveryWordOfTheListing) {
    std::size_t known = 0;
    for (const Line& line : read_listing(GetParam())) {
        const Decoded decoded = decode(line.word, line.arch);
        if (decoded.row == nullptr) continue;  // the disassembler's test counts these
        if (line.arch == 70 && line.word.uniform()) continue;  // sm_70 ignores the bit
        ++known;
        const Word covered = covered_bits(*decoded.row), again = encode(decoded);
        ASSERT_EQ(again.lo, line.word.lo & covered.lo) << line.text;
        ASSERT_EQ(again.hi, line.word.hi & covered.hi) << line.text;
    }
    EXPECT_GT(known, 0u);
    std::cout << "encode(decode(w)) == w for " << known << " words\n";
}

INSTANTIATE_TEST_SUITE_P(Listings, Encoder, testing::Values("kernels.xz", "random.xz"),
                         [](const auto& listing) { return std::string(listing.param, 6); });

}  // namespace
}  // namespace lockstep::sass
