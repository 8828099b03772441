// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/operators.h"

#include <algorithm>
#include <iterator>

#include "sim/error/error.h"

namespace lockstep::network {

namespace {

constexpr std::size_t kMany = SIZE_MAX;

// clang-format off
constexpr OperatorInfo kOperators[] = {
#define OPERATOR(_name, least_in, most_in, least_out, most_out, _attributes, shape, kernel, ...) \
    {.op = Operator::k##_name, .name = #_name, \
     .minimum_inputs = least_in, .maximum_inputs = most_in, \
     .minimum_outputs = least_out, .maximum_outputs = most_out, \
     .attributes = _attributes __VA_OPT__(,) __VA_ARGS__},
#define COMPOSITE(_name, least_in, most_in, least_out, most_out, _attributes, writer) \
    {.op = Operator::k##_name, .name = #_name, \
     .minimum_inputs = least_in, .maximum_inputs = most_in, \
     .minimum_outputs = least_out, .maximum_outputs = most_out, \
     .attributes = _attributes, .is_composite = true},
#include "workloads/network/graph/operators.table"
};
// clang-format on

}  // namespace

const OperatorInfo& info_of(Operator op) {
    const auto index = static_cast<std::size_t>(op);
    LOCKSTEP_CHECK(index < std::size(kOperators), "operator {}", index);
    return kOperators[index];
}

std::string_view name_of(Operator op) {
    return info_of(op).name;
}

std::optional<Operator> operator_named(std::string_view name) {
    for (const OperatorInfo& info : kOperators)
        if (info.name == name) return info.op;
    return std::nullopt;
}

std::size_t operator_count() {
    return std::size(kOperators);
}

std::optional<char> attribute_kind(Operator op, std::string_view attribute) {
    std::string_view list = info_of(op).attributes;
    while (!list.empty()) {
        const std::size_t colon = list.find(':');
        if (list.substr(0, colon) == attribute) return list[colon + 1];
        list.remove_prefix(std::min(list.size(), colon + 3));
    }
    return std::nullopt;
}

bool keeps_scale(Operator op) {
    const IntegerForm form = info_of(op).integers;
    return form == IntegerForm::kSameScale || form == IntegerForm::kSameValues;
}

bool is_view(Operator op) {
    return info_of(op).work == Work::kView || op == Operator::kTranspose;
}

bool has_window(Operator op) {
    return attribute_kind(op, "kernel_shape").has_value();
}

}  // namespace lockstep::network
