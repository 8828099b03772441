// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/port.h"

#include <gmock/gmock.h>

#include <numeric>

namespace lockstep::network::compile {
namespace {

using testing::ElementsAre;

Tensor counting(ElementType type, Shape shape) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(shape)));
    std::iota(values.begin(), values.end(), 0);
    return from_integers(type, std::move(shape), values);
}

TEST(Port, puts_an_image_channel_by_channel) {
    const Shape shape = {1, 2, 2, 2};
    const Port port{.type = ElementType::kInt8, .view = {shape, image_strides(shape), {}}};
    std::vector<std::uint8_t> bytes(8);
    write_port(port, counting(ElementType::kInt8, shape), bytes);
    EXPECT_THAT(bytes, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
    EXPECT_EQ(read_port(port, ElementType::kInt8, bytes).bytes,
              counting(ElementType::kInt8, shape).bytes);
}

TEST(Port, knows_the_pixels_of_a_flattened_image) {
    // Rows of c h w that lie as h w c.
    const Port port{.type = ElementType::kInt16, .view = {{1, 4}, {4, 1}, {2, 1, 2}}};
    std::vector<std::uint8_t> bytes(8);
    write_port(port, counting(ElementType::kInt16, {1, 4}), bytes);
    EXPECT_THAT(bytes, ElementsAre(0, 0, 2, 0, 1, 0, 3, 0));
    EXPECT_THAT(to_integers(read_port(port, ElementType::kInt16, bytes)), ElementsAre(0, 1, 2, 3));
}

TEST(Port, rounds_to_the_type_that_is_stored) {
    const Port port{.offset = 2, .type = ElementType::kBf16, .view = {{1}, {1}, {}}};
    std::vector<std::uint8_t> bytes(4);
    const float value = 1.00390625f;  // half a step of bf16 above 1: to even
    write_port(port, make_tensor({1}, std::span<const float>(&value, 1)), bytes);
    EXPECT_THAT(bytes, ElementsAre(0, 0, 0x80, 0x3f));
    EXPECT_THAT(to_floats(read_port(port, ElementType::kFp32, bytes)), ElementsAre(1.0f));
}

}  // namespace
}  // namespace lockstep::network::compile
