// SPDX-License-Identifier: Apache-2.0
// Which lane and register of a warp holds which element of mma's matrices: read off the code that
// the simulated instructions use.
#include "isa/sass/semantics/tensor/fragment.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kRows = 16, kColumns = 8;

/// Registers whose words are their own address: lane * 4 + register.
void number(sass::Row* registers, unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        for (unsigned lane = 0; lane < sass::kWarpSize; ++lane)
            registers[i].lane[lane] = lane * 4 + i;
}

/// [lane, register, part of the register]
Json owner(std::uint32_t word, int part) {
    return Json::array({word / 4, word % 4, part});
}

struct Shape {
    int elements;  ///< a word
    int depth;
};

Shape shape_of(const std::string& type) {
    if (type == "tf32") return {1, 8};
    return type == "int8" ? Shape{4, 32} : Shape{2, 16};
}

}  // namespace

Json mma_fragments(const nlohmann::json& json) {
    WidgetRequest request(json);
    const std::string type = request.one_of("type", "fp16", {"fp16", "tf32", "int8"});
    request.finish();
    const Shape shape = shape_of(type);
    sass::Row registers[4];
    number(registers, 4);
    const sass::FragmentA a(registers, 4);
    const sass::FragmentB b(registers, 2);
    const sass::FragmentC c(registers, 4);
    Json a_rows = Json::array(), b_rows = Json::array(), c_rows = Json::array();
    for (int row = 0; row < kRows; ++row) {
        Json in_a = Json::array(), in_c = Json::array();
        for (int k = 0; k < shape.depth; ++k)
            in_a.push_back(owner(a.word[k / shape.elements][row], k % shape.elements));
        for (int column = 0; column < kColumns; ++column)
            in_c.push_back(owner(c.element[column][row], 0));
        a_rows.push_back(std::move(in_a));
        c_rows.push_back(std::move(in_c));
    }
    for (int k = 0; k < shape.depth; ++k) {
        Json in_b = Json::array();
        for (int column = 0; column < kColumns; ++column)
            in_b.push_back(owner(b.word[column][k / shape.elements], k % shape.elements));
        b_rows.push_back(std::move(in_b));
    }
    return {{"type", type},
            {"shape", {kRows, kColumns, shape.depth}},
            {"elements", shape.elements},
            {"a", std::move(a_rows)},
            {"b", std::move(b_rows)},
            {"c", std::move(c_rows)}};
}

}  // namespace lockstep::lab
