// SPDX-License-Identifier: Apache-2.0
// The driver may run independent nodes at the same time; running them one after another in an order
// that respects the edges is one of the schedules it may choose, and always the same one here.
#include "workloads/cuda_api/state/graph.h"

#include <algorithm>
#include <unordered_set>

#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda {

Error release_object(Context& context, UserObject* object, unsigned count) {
    if (!object || count == 0 || count > object->references) return Error::kInvalidValue;
    object->references -= count;
    if (object->references != 0) return Error::kSuccess;
    context.run_unlocked([&] { object->destroy(object->data); });
    delete object;
    return Error::kSuccess;
}

void release_objects(Context& context, std::vector<std::pair<UserObject*, unsigned>>& objects) {
    for (auto& [object, references] : objects)
        if (references != 0) release_object(context, object, references);
    objects.clear();
}

Graph::~Graph() {
    release_objects(context_, objects_);
}

GraphNode* Graph::add(Operation operation, std::vector<GraphNode*> dependencies) {
    if (const auto* allocate = std::get_if<Allocate>(&operation))
        memory_.emplace_back(allocate->parameters.dptr, [&memory = context_.memory](void* pointer) {
            memory.release_from_graph(pointer);
        });
    return append(std::move(operation), std::move(dependencies));
}

GraphNode* Graph::append(Operation operation, std::vector<GraphNode*> dependencies) {
    auto node = std::make_unique<GraphNode>();
    node->graph = this;
    node->operation = std::move(operation);
    node->dependencies = std::move(dependencies);
    nodes_.push_back(std::move(node));
    order_.clear();
    return nodes_.back().get();
}

bool Graph::remove(GraphNode* node) {
    if (!contains(node)) return false;
    for (auto& other : nodes_) std::erase(other->dependencies, node);
    std::erase_if(nodes_, [&](const auto& other) { return other.get() == node; });
    order_.clear();
    return true;
}

bool Graph::contains(const GraphNode* node) const {
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](const auto& other) { return other.get() == node; });
}

bool Graph::reaches(const GraphNode* node, const std::vector<GraphNode*>& from) const {
    std::vector<const GraphNode*> open(from.begin(), from.end());
    std::unordered_set<const GraphNode*> seen;
    while (!open.empty()) {
        const GraphNode* next = open.back();
        open.pop_back();
        if (next == node) return true;
        if (!seen.insert(next).second) continue;
        open.insert(open.end(), next->dependencies.begin(), next->dependencies.end());
    }
    return false;
}

std::vector<GraphNode*> Graph::order() const {
    std::vector<GraphNode*> result;
    std::unordered_set<const GraphNode*> done;
    // Nodes mostly come after what they depend on already, so that one pass is the rule.
    for (bool progress = true; progress && result.size() < nodes_.size();) {
        progress = false;
        for (const auto& node : nodes_) {
            if (done.contains(node.get())) continue;
            const auto& needs = node->dependencies;
            if (!std::all_of(needs.begin(), needs.end(),
                             [&](const GraphNode* need) { return done.contains(need); }))
                continue;
            done.insert(node.get());
            result.push_back(node.get());
            progress = true;
        }
    }
    if (result.size() < nodes_.size()) result.clear();
    return result;
}

std::shared_ptr<Graph> Graph::clone() const {
    auto copy = std::make_shared<Graph>(context_);
    copy->memory_ = memory_;
    std::unordered_map<const GraphNode*, GraphNode*> of;
    for (const auto& node : nodes_) {
        Operation operation = node->operation;
        if (auto* child = std::get_if<ChildGraph>(&operation)) child->graph = child->graph->clone();
        if (auto* launch = std::get_if<KernelLaunch>(&operation)) {
            const auto& source = std::get<KernelLaunch>(node->operation);
            for (void*& argument : launch->arguments)
                argument = launch->parameters.data() +
                           (static_cast<std::byte*>(argument) - source.parameters.data());
        }
        GraphNode* added = copy->append(std::move(operation), {});
        added->original = node.get();
        added->enabled = node->enabled;
        of[node.get()] = added;
    }
    for (const auto& node : nodes_)
        for (GraphNode* need : node->dependencies)
            of[node.get()]->dependencies.push_back(of.at(need));
    copy->objects_ = objects_;
    for (auto& [object, references] : copy->objects_) object->references += references;
    return copy;
}

GraphNode* Graph::find_clone(const GraphNode* original) const {
    for (const auto& node : nodes_)
        if (node->original == original) return node.get();
    return nullptr;
}

Error Graph::run(Context& context) {
    if (order_.empty()) order_ = order();
    for (GraphNode* node : order_) {
        if (!node->enabled) continue;
        if (const Error error = execute(context, node->operation); error != Error::kSuccess)
            return error;
    }
    return Error::kSuccess;
}

std::vector<std::pair<GraphNode*, GraphNode*>> Graph::edges() const {
    std::vector<std::pair<GraphNode*, GraphNode*>> result;
    for (const auto& node : nodes_)
        for (GraphNode* need : node->dependencies) result.emplace_back(need, node.get());
    return result;
}

Graph* Graphs::keep(std::shared_ptr<Graph> graph) {
    Graph* handle = graph.get();
    graphs_[handle] = std::move(graph);
    return handle;
}

std::shared_ptr<Graph> Graphs::find(Graph* handle) const {
    if (const auto entry = graphs_.find(handle); entry != graphs_.end()) return entry->second;
    // The graph of a child node is the program's to look at, too.
    for (const auto& [root, graph] : graphs_)
        for (const auto& node : graph->nodes())
            if (const auto* child = std::get_if<ChildGraph>(&node->operation))
                if (child->graph.get() == handle) return child->graph;
    return nullptr;
}

Error Graphs::destroy(Graph* handle) {
    return graphs_.erase(handle) != 0 ? Error::kSuccess : Error::kInvalidValue;
}

GraphExec* Graphs::keep_exec(std::shared_ptr<Graph> graph, unsigned long long flags) {
    auto exec = std::make_unique<GraphExec>();
    exec->graph = std::move(graph);
    exec->flags = flags;
    GraphExec* handle = exec.get();
    execs_[handle] = std::move(exec);
    return handle;
}

Error Graphs::destroy_exec(GraphExec* exec) {
    return execs_.erase(exec) != 0 ? Error::kSuccess : Error::kInvalidValue;
}

bool Graphs::is_node(const GraphNode* node) const {
    return node != nullptr && find(node->graph) != nullptr && node->graph->contains(node);
}

}  // namespace lockstep::cuda
