// SPDX-License-Identifier: Apache-2.0
// A dot product of the Tensor Core, generations side by side, bit by bit, from the netlist; beside
// it what fp32 fused multiply-adds and fp64 give.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include "models/gpu/tensor_core/number.h"
#include "models/gpu/tensor_core/step.h"
#include "sim/error/error.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/tf32.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;
using sass::TensorType;

constexpr std::size_t kMostDepth = 16;
constexpr int kSide = gpu::TensorStep::kSide;

struct Generation {
    int sm;
    const char* name;
};
const Generation kGenerations[] = {
    {70, "Volta (V100)"}, {75, "Turing (T4)"}, {80, "Ampere (A100)"}, {90, "Hopper (H100)"}};

TensorType type_of(const std::string& name) {
    if (name == "fp16") return TensorType::kFp16;
    return name == "bf16" ? TensorType::kBf16 : TensorType::kTf32;
}

std::uint32_t encoded(TensorType type, double value) {
    if (type == TensorType::kFp16) return numerics::fp64_to_fp16(value);
    if (type == TensorType::kBf16) return numerics::fp64_to_bf16(value);
    return numerics::fp32_to_tf32(static_cast<float>(value), numerics::Rounding::kNearestEven);
}

double decoded(TensorType type, std::uint32_t bits) {
    if (type == TensorType::kFp16) return numerics::fp16_to_fp64(static_cast<std::uint16_t>(bits));
    if (type == TensorType::kBf16) return numerics::bf16_to_fp64(static_cast<std::uint16_t>(bits));
    return std::bit_cast<float>(bits);
}

/// The dot product that was asked for, as it is after rounding to its types.
struct Dot {
    TensorType type;
    bool half;
    int depth;
    std::vector<std::uint32_t> a, b;
    std::uint32_t c;

    double addend() const {
        return half ? numerics::fp16_to_fp64(static_cast<std::uint16_t>(c))
                    : std::bit_cast<float>(c);
    }
};

Dot dot_of(const nlohmann::json& json) {
    WidgetRequest request(json);
    Dot dot{type_of(request.one_of("type", "fp16", {"fp16", "bf16", "tf32"})),
            request.one_of("accumulate", "fp32", {"fp32", "fp16"}) == "fp16",
            4,
            {},
            {},
            0};
    std::vector<double> a = request.numbers("a", {1, 2, 3, 4}, kMostDepth);
    std::vector<double> b = request.numbers("b", {1, 1, 1, 1}, kMostDepth);
    const double c = request.numbers("c", {0}, 1).front();
    request.finish();
    if (a.size() != b.size()) throw InputError("a and b: wanted the same count of numbers");
    if (dot.half && dot.type != TensorType::kFp16)
        throw InputError("accumulate: only fp16 is accumulated in fp16");
    while (a.size() > static_cast<std::size_t>(dot.depth)) dot.depth *= 2;
    a.resize(static_cast<std::size_t>(dot.depth));
    b.resize(a.size());
    for (std::size_t k = 0; k < a.size(); ++k) {
        dot.a.push_back(encoded(dot.type, a[k]));
        dot.b.push_back(encoded(dot.type, b[k]));
    }
    dot.c =
        dot.half ? numerics::fp64_to_fp16(c) : std::bit_cast<std::uint32_t>(static_cast<float>(c));
    return dot;
}

/// Unit (0, 0) has the dot product; the others the same numbers turned round, so that all work.
gpu::TensorStep step_of(const Dot& dot, int sm) {
    gpu::TensorStep step;
    step.rule = sass::dot_product_rule(sm, dot.type, dot.half);
    step.type = dot.type;
    step.depth = dot.depth;
    const auto depth = static_cast<std::size_t>(dot.depth);
    step.b.resize(depth * kSide);
    for (std::size_t i = 0; i < kSide; ++i)
        for (std::size_t k = 0; k < depth; ++k) {
            step.a.push_back(dot.a[(k + i) % depth]);
            step.b[k * kSide + i] = dot.b[(k + i) % depth];
        }
    step.c.assign(kSide * kSide, dot.c);
    return step;
}

/// `point`: bits of the significand behind the point. Significands as text: they are exact.
Json json_of(const gpu::TensorTerm& term, int point) {
    const double value = std::ldexp(static_cast<double>(term.significand), term.exponent - point);
    return {{"value", term.significand == 0 ? 0.0 : value},
            {"significand", term.significand},
            {"point", point},
            {"exponent", term.exponent},
            {"aligned", term.aligned}};
}

double value_of(const Dot& dot, std::uint32_t bits) {
    return dot.half ? numerics::fp16_to_fp64(static_cast<std::uint16_t>(bits))
                    : std::bit_cast<float>(bits);
}

/// JSON has no infinities.
Json number(double value) {
    if (std::isfinite(value)) return value;
    return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
}

Json json_of(const Dot& dot, const gpu::TensorGroup& group) {
    const int point = 2 * gpu::format_of(dot.type).fraction_bits;
    Json terms = Json::array();
    for (const gpu::TensorTerm& term : group.products) terms.push_back(json_of(term, point));
    terms.push_back(
        json_of(group.addend, (dot.half ? gpu::kFp16Number : gpu::kFp32Number).fraction_bits));
    return {{"largest", group.largest},
            {"terms", std::move(terms)},
            {"sum", group.sum},
            {"result", number(value_of(dot, group.result))},
            {"bits", fmt::format("0x{:0{}x}", group.result, dot.half ? 4 : 8)}};
}

Json generation_json(const Dot& dot, const Generation& generation) {
    const gpu::TensorStep step = step_of(dot, generation.sm);
    const gpu::TensorStepRun run = gpu::run_tensor_step(step);
    Json groups = Json::array();
    for (const gpu::TensorGroup& group : run.groups[0]) groups.push_back(json_of(dot, group));
    return {{"sm", generation.sm},
            {"name", generation.name},
            {"group", step.rule.group},
            {"fraction_bits", step.rule.fraction_bits},
            {"result", groups.back()["result"]},
            {"bits", groups.back()["bits"]},
            {"groups", std::move(groups)}};
}

}  // namespace

Json tensor_dot(const nlohmann::json& json) {
    const Dot dot = dot_of(json);
    double exact = dot.addend();
    float fused = static_cast<float>(exact);
    Json a = Json::array(), b = Json::array();
    for (std::size_t k = 0; k < dot.a.size(); ++k) {
        const double left = decoded(dot.type, dot.a[k]), right = decoded(dot.type, dot.b[k]);
        exact += left * right;
        fused = std::fma(static_cast<float>(left), static_cast<float>(right), fused);
        a.push_back(number(left));
        b.push_back(number(right));
    }
    Json generations = Json::array();
    for (const Generation& generation : kGenerations)
        if (generation.sm >= 80 || dot.type == TensorType::kFp16)
            generations.push_back(generation_json(dot, generation));
    return {{"a", std::move(a)},
            {"b", std::move(b)},
            {"c", number(dot.addend())},
            {"fp64", number(exact)},
            {"once", number(static_cast<float>(exact))},
            {"fused", number(fused)},
            {"generations", std::move(generations)}};
}

Json tensor_vcd(const nlohmann::json& json) {
    nlohmann::json rest = json;
    const int sm = static_cast<int>(rest.value("sm", 80));
    rest.erase("sm");
    const Dot dot = dot_of(rest);
    if (sm != 70 && sm != 75 && sm != 80 && sm != 90)
        throw InputError(fmt::format("sm: {} is none of 70, 75, 80 and 90", sm));
    if (sm < 80 && dot.type != TensorType::kFp16)
        throw InputError(fmt::format("type: sm_{} has fp16 only", sm));
    const char* path = "step.vcd";  // in the folder of this process alone
    gpu::run_tensor_step(step_of(dot, sm), path);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return {{"vcd", text.str()}};
}

}  // namespace lockstep::lab
