// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/study_schema.h"

#include <nlohmann/json.hpp>

#include "sim/config/json_schema.h"

namespace lockstep::sweep {

namespace {

using Json = nlohmann::ordered_json;

Json value() {
    return {{"type", {"string", "number", "boolean"}}};
}

Json list() {
    return {{"type", "array"}, {"items", value()}};
}

Json pairs() {
    return {{"type", "object"}, {"additionalProperties", value()}};
}

Json any_of(std::initializer_list<Json> shapes) {
    return {{"anyOf", Json::array_t(shapes)}};
}

Json shape_of(const StudyKey& key) {
    switch (key.shape) {
        case Shape::kText:
            break;
        case Shape::kCount:
            return {{"type", "integer"}, {"minimum", 0}};
        case Shape::kTruth:
            return {{"type", "boolean"}};
        case Shape::kList:
            return any_of({value(), list()});
        case Shape::kPairs:
            return pairs();
        case Shape::kListOrPairs:
            return any_of({value(), list(), pairs()});
        case Shape::kAxes:
            return {{"type", "object"}, {"additionalProperties", any_of({value(), list()})}};
    }
    return key.choices.empty() ? value() : Json{{"enum", key.choices}};
}

}  // namespace

std::string study_schema() {
    Json root = {{"$schema", config::kJsonSchemaDialect},
                 {"title", "Lockstep study file: what a sweep runs"},
                 {"type", "object"}};
    for (const StudyKey& key : study_keys()) {
        Json& property = root["properties"][std::string(key.name)];
        property["description"] = key.meaning;
        property.update(shape_of(key));
    }
    root["additionalProperties"] = false;
    return root.dump(2) + "\n";
}

}  // namespace lockstep::sweep
