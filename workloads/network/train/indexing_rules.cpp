// SPDX-License-Identifier: Apache-2.0
// Gradients of what takes elements by their indices, or puts them there: the gradient goes the
// other way. Indices that meet add up.
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/train/rule.h"

namespace lockstep::network::training {

namespace {

ValueId zeros(Rule& r, const std::string& part, ValueId like) {
    return r.w.constant(r.name(part), Tensor(r.type(like), r.shape(like)));
}

NodeAttributes along(const Rule& r, std::int64_t axis, bool adds) {
    NodeAttributes attributes = {{"axis", r.node.integer("axis", axis)}};
    if (adds) attributes["reduction"] = std::string("add");
    return attributes;
}

void gather_elements(Rule& r) {
    r.give(0, r.op(kScatterElements, "x", {zeros(r, "empty", r.in(0)), r.in(1), r.dy()},
                   along(r, 0, true)));
}

void gather_nd(Rule& r) {
    if (r.node.integer("batch_dims", 0) != 0) r.fail("dimensions of batches");
    r.give(0, r.op(kScatterND, "x", {zeros(r, "empty", r.in(0)), r.in(1), r.dy()},
                   {{"reduction", std::string("add")}}));
}

/// Each of the largest goes back to its place.
void top(Rule& r) {
    if (r.dy(0) == kNoValue) return;
    r.give(0, r.op(kScatterElements, "x", {zeros(r, "empty", r.in(0)), r.out(1), r.dy(0)},
                   along(r, -1, false)));
}

/// What is put somewhere gets the gradient of that place; what was there before gets it where the
/// two are added, else none.
void scatter(Rule& r, Operator put, Operator take, const NodeAttributes& attributes) {
    const std::string reduction = r.node.text("reduction", "none");
    if (reduction != "none" && reduction != "add") r.fail("its reduction is " + reduction);
    if (r.needs(0))
        r.give(0,
               reduction == "add"
                   ? r.dy()
                   : r.op(put, "x", {r.dy(), r.in(1), zeros(r, "nothing", r.in(2))}, attributes));
    if (r.needs(2)) r.give(2, r.op(take, "updates", {r.dy(), r.in(1)}, attributes));
}

void scatter_elements(Rule& r) {
    scatter(r, kScatterElements, kGatherElements, along(r, 0, false));
}
void scatter_nd(Rule& r) {
    scatter(r, kScatterND, kGatherND, {});
}

constexpr RuleRow kRows[] = {
    {kGatherElements, gather_elements},
    {kGatherND, gather_nd},
    {kScatterElements, scatter_elements},
    {kScatterND, scatter_nd},
    {kTopK, top},
};

}  // namespace

std::span<const RuleRow> indexing_rules() {
    return kRows;
}

}  // namespace lockstep::network::training
