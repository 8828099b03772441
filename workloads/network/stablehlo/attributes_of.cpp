// SPDX-License-Identifier: Apache-2.0
// Attributes of operations as the numbers and texts that a lowering wants.
#include <algorithm>

#include "workloads/network/stablehlo/lowering.h"

namespace lockstep::network::stablehlo {

Integers integers_of(const AttributeValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value.value)) return {*whole};
    if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value.value)) {
        if (is_floating((*tensor)->type)) throw Refusal{"a list of whole numbers is expected"};
        return to_integers(**tensor);
    }
    const auto* list = std::get_if<AttributeValue::List>(&value.value);
    if (list == nullptr) throw Refusal{"a list of whole numbers is expected"};
    Integers numbers;
    for (const AttributeValue& element : *list) {  // lists of lists (paddings) one after the other
        const Integers part = integers_of(element);
        numbers.insert(numbers.end(), part.begin(), part.end());
    }
    return numbers;
}

const AttributeValue* find(const Operation& op, std::string_view name) {
    const auto found = op.attributes.find(name);
    return found == op.attributes.end() ? nullptr : &found->second;
}

Integers integers(const Operation& op, std::string_view name, Integers otherwise) {
    const AttributeValue* value = find(op, name);
    return value == nullptr ? otherwise : integers_of(*value);
}

std::string text(const Operation& op, std::string_view name) {
    const AttributeValue* value = find(op, name);
    const auto* found = value == nullptr ? nullptr : std::get_if<std::string>(&value->value);
    return found == nullptr ? "" : *found;
}

}  // namespace lockstep::network::stablehlo
