// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "isa/cubin/listing.h"
#include "tests/isa/cubin/test_data.h"

namespace lockstep::cubin {
namespace {

using testing::HasSubstr;

TEST(Listing, OfACubin) {
    const Cubin cubin = parse(read_data("zoo_sm90.cubin"), "zoo");
    const std::string text = listing(cubin);
    EXPECT_THAT(text, HasSubstr("cubin for sm_90, ABI 8\n"));
    EXPECT_THAT(text, HasSubstr("instructions registers  shared   local parameters  name\n"));
    EXPECT_THAT(text, HasSubstr("12     400       0          8  shared\n"));
    EXPECT_THAT(text, HasSubstr("constant             16  coefficients\n"));
    EXPECT_THAT(text, HasSubstr("global                4  counter\n"));
    EXPECT_THAT(text, HasSubstr("managed              16  managed_array\n"));
    EXPECT_THAT(listing(parse(read_data("caller_sm80_object.cubin"), "c")),
                HasSubstr("sm_80, ABI 8, relocatable"));
}

TEST(Listing, OfAFunction) {
    const Cubin cubin = parse(read_data("zoo_sm90.cubin"), "zoo");
    EXPECT_EQ(describe(cubin, *cubin.find_function("shared"), "// "),
              "// kernel       shared\n"
              "// code         40 instructions, sm_90\n"
              "// registers    12\n"
              "// shared       400 bytes\n"
              "// local        0 bytes\n"
              "// barriers     1\n"
              "// max threads  128x1x1\n"
              "// parameter 0  8 bytes at c[0x0][0x210]\n");
    EXPECT_THAT(describe(cubin, *cubin.find_function("recursion")),
                HasSubstr("a stack of unknown depth"));
}

TEST(Listing, OfAFatbin) {
    const std::vector<uint8_t> bytes = read_data("tiny_size.fatbin");
    const std::string text = listing(parse_fatbin(bytes, "tiny"));
    EXPECT_THAT(text, HasSubstr("cubin sm_75, "));
    EXPECT_THAT(text, HasSubstr("cubin sm_90a, "));
    EXPECT_THAT(text, HasSubstr("PTX 9.0 compute_80, "));
    EXPECT_THAT(text, HasSubstr(" bytes, zstd\n"));
}

}  // namespace
}  // namespace lockstep::cubin
