// SPDX-License-Identifier: Apache-2.0
// Graphs: operations with the order between them, made by hand or by stream capture.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/cuda_api/state/abi.h"
#include "workloads/cuda_api/state/operation.h"

namespace lockstep::cuda {

class Context;

class GraphNode {
  public:
    Graph* graph = nullptr;
    Operation operation;
    std::vector<GraphNode*> dependencies;
    const GraphNode* original = nullptr;  ///< in the graph this one was cloned from
    bool enabled = true;
};

/// Something of the program's that is destroyed with the last graph that uses it.
struct UserObject {
    void* data = nullptr;
    abi::HostFunction destroy = nullptr;
    unsigned references = 1;
};

class Graph {
  public:
    explicit Graph(Context& context) : context_(context) {}
    ~Graph();
    Graph(const Graph&) = delete;

    GraphNode* add(Operation operation, std::vector<GraphNode*> dependencies);
    bool remove(GraphNode* node);
    bool contains(const GraphNode* node) const;
    const std::vector<std::unique_ptr<GraphNode>>& nodes() const { return nodes_; }

    /// True where `node` is one of `from` or something they depend on.
    bool reaches(const GraphNode* node, const std::vector<GraphNode*>& from) const;
    /// Nodes so that each comes after what it depends on, else in the order they were added.
    /// Empty where the graph has a cycle (or no nodes).
    std::vector<GraphNode*> order() const;
    /// A copy whose nodes know the ones they were copied from.
    std::shared_ptr<Graph> clone() const;
    GraphNode* find_clone(const GraphNode* original) const;
    Error run(Context& context);

    std::vector<std::pair<GraphNode*, GraphNode*>> edges() const;
    /// The user objects it holds, with how many references.
    std::vector<std::pair<UserObject*, unsigned>>& objects() { return objects_; }

  private:
    GraphNode* append(Operation operation, std::vector<GraphNode*> dependencies);

    Context& context_;
    std::vector<std::unique_ptr<GraphNode>> nodes_;
    mutable std::vector<GraphNode*> order_;  ///< computed when first run
    std::vector<std::pair<UserObject*, unsigned>> objects_;
    /// Of allocation nodes: a graph and what was made of it share it.
    std::vector<std::shared_ptr<void>> memory_;
};

class GraphExec {
  public:
    std::shared_ptr<Graph> graph;
    unsigned long long flags = 0;
};

/// Gives up references and destroys the object with its last one; called under the lock.
Error release_object(Context& context, UserObject* object, unsigned count);
/// Gives up what a graph holds; called under the lock.
void release_objects(Context& context, std::vector<std::pair<UserObject*, unsigned>>& objects);

/// All graphs the program has handles of.
class Graphs {
  public:
    Graph* keep(std::shared_ptr<Graph> graph);
    std::shared_ptr<Graph> find(Graph* handle) const;
    Error destroy(Graph* handle);
    GraphExec* keep_exec(std::shared_ptr<Graph> graph, unsigned long long flags);
    bool is_exec(GraphExec* exec) const { return execs_.contains(exec); }
    Error destroy_exec(GraphExec* exec);
    bool is_node(const GraphNode* node) const;

  private:
    std::unordered_map<Graph*, std::shared_ptr<Graph>> graphs_;
    std::unordered_map<GraphExec*, std::unique_ptr<GraphExec>> execs_;
};

}  // namespace lockstep::cuda
