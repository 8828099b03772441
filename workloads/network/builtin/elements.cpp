// SPDX-License-Identifier: Apache-2.0
// Work element by element and sums of rows as networks: what memory and vector units do alone.
// `steps`: so many one after the other, each on the result of the one before, as the steps of a
// loop: a reshape between them stands for the end of its body, across which nothing is fused.
#include "workloads/network/builtin/families.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::builtin {

namespace {

constexpr float kFactor = 0.5f;

Shape shape_of(const Parameters& p) {
    return {p.at("rows"), p.at("cols")};
}

ValueId factor(Builder& b) {
    return b.constant("factor", make_tensor({}, std::span<const float>(&kFactor, 1)));
}

std::string numbered(const char* name, std::int64_t i) {
    return name + std::to_string(i);
}

ValueId next_step(Builder& b, const Parameters& p, ValueId x, std::int64_t i) {
    return b.reshape(numbered("carry", i), x, shape_of(p));
}

}  // namespace

Graph add(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("add", seed, with_values);
    const ValueId x = b.input("x", ElementType::kFp32, shape_of(p)),
                  y = b.input("y", ElementType::kFp32, shape_of(p));
    // A chain reads only what it made.
    const ValueId first = b.node(Operator::kAdd, "add0", {x, y});
    ValueId sum = first;
    for (std::int64_t i = 1; i < p.at("steps"); ++i)
        sum = b.node(Operator::kAdd, numbered("add", i), {next_step(b, p, sum, i), first});
    return b.finish({sum});
}

Graph exponential(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("exp", seed, with_values);
    ValueId x = b.input("x", ElementType::kFp32, shape_of(p));
    for (std::int64_t i = 0; i < p.at("steps"); ++i) {
        if (i != 0) x = next_step(b, p, x, i);
        if (p.at("decays") != 0)
            x = b.node(Operator::kNeg, numbered("neg", i),
                       {b.node(Operator::kAbs, numbered("abs", i), {x})});
        x = b.node(Operator::kExp, numbered("exp", i), {x});
    }
    return b.finish({x});
}

Graph scale(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("scale", seed, with_values);
    const ValueId x = b.input("x", ElementType::kFp32, shape_of(p));
    return b.finish({b.node(Operator::kMul, "scale", {x, factor(b)})});
}

Graph triad(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("triad", seed, with_values);
    const ValueId x = b.input("x", ElementType::kFp32, shape_of(p)),
                  y = b.input("y", ElementType::kFp32, shape_of(p));
    const ValueId scaled = b.node(Operator::kMul, "scale", {x, factor(b)});
    return b.finish({b.node(Operator::kAdd, "add", {scaled, y})});
}

Graph row_sums(const Parameters& p, std::uint64_t seed, bool with_values) {
    Builder b("row_sums", seed, with_values);
    const ValueId x = b.input("x", ElementType::kFp32, shape_of(p));
    return b.finish(
        {b.node(Operator::kReduceSum, "sum", {x},
                {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}})});
}

Graph sums(const Parameters& p, std::uint64_t seed, bool with_values) {
    constexpr float kShare = 1e-9f, kNone = 0, kAll = 1;  // of a sum that the next step takes
    Builder b("sums", seed, with_values);
    const auto number = [&](const char* name, float value) {
        return b.constant(name, make_tensor({1, 1}, std::span<const float>(&value, 1)));
    };
    const std::int64_t elements = p.at("rows") * p.at("cols");
    const bool takes_powers = p.at("exp") != 0;
    std::vector<ValueId> values;
    for (std::int64_t i = 0; i < p.at("inputs"); ++i)
        values.push_back(b.reshape(numbered("row", i),
                                   b.input(numbered("x", i), ElementType::kFp32, shape_of(p)),
                                   {1, elements}));
    const ValueId share = number("share", kShare), all = number("all", kAll);
    ValueId last = number("first", takes_powers ? kNone : kAll), sum = kNoValue;
    for (std::int64_t step = 0; step < p.at("steps"); ++step) {
        sum = kNoValue;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string n = "." + std::to_string(step) + "." + std::to_string(i);
            ValueId x = b.node(takes_powers ? Operator::kAdd : Operator::kMul, "last" + n,
                               {values[i], last});
            if (takes_powers)
                x = b.node(Operator::kExp, "exp" + n, {b.node(Operator::kNeg, "neg" + n, {x})});
            x = b.node(Operator::kReduceSum, "sum" + n, {x},
                       {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{1}}});
            sum = sum == kNoValue ? x : b.node(Operator::kAdd, "sums" + n, {sum, x});
        }
        last = b.node(Operator::kMul, numbered("share", step), {sum, share});
        if (!takes_powers) last = b.node(Operator::kAdd, numbered("next", step), {last, all});
    }
    return b.finish({sum});
}

}  // namespace lockstep::network::builtin
