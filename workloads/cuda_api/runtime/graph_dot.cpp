// SPDX-License-Identifier: Apache-2.0
// cudaGraphDebugDotPrint: a graph as Graphviz reads it, a cluster for each graph inside another.
// CUDA does not fix what the labels say; its flags (more detail) are accepted and say nothing here.
#include <fmt/format.h>

#include <fstream>
#include <string>
#include <unordered_map>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/state/graph.h"
#include "workloads/cuda_api/state/module.h"

namespace lockstep::cuda {
namespace {

std::string label(const Operation& operation) {
    const auto dim = [](const sass::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); };
    switch (node_type(operation)) {
        case abi::kNodeKernel: {
            const auto& launch = std::get<KernelLaunch>(operation);
            return fmt::format("KERNEL\\n{}\\n{} x {}", launch.kernel->name, dim(launch.grid),
                               dim(launch.block));
        }
        case abi::kNodeMemcpy: {
            const auto& copy = std::get<Copy>(operation);
            return fmt::format("MEMCPY\\n{} x {} x {} bytes", copy.width, copy.height, copy.depth);
        }
        case abi::kNodeMemset: {
            const auto& fill = std::get<Fill>(operation);
            return fmt::format("MEMSET\\n{} x {} elements of {} bytes", fill.width, fill.height,
                               fill.element_bytes);
        }
        case abi::kNodeHost:
            return "HOST";
        case abi::kNodeGraph:
            return "GRAPH";
        case abi::kNodeWaitEvent:
            return "EVENT_WAIT";
        case abi::kNodeEventRecord:
            return "EVENT_RECORD";
        case abi::kNodeMemAlloc:
            return fmt::format("MEM_ALLOC\\n{} bytes",
                               std::get<Allocate>(operation).parameters.bytesize);
        case abi::kNodeMemFree:
            return "MEM_FREE";
        default:
            return "EMPTY";
    }
}

/// Appends the graph as a cluster; `graphs` counts those written so far.
void write(const Graph& graph, unsigned& graphs, std::string& dot) {
    const std::string name = fmt::format("graph_{}", graphs++);
    dot += fmt::format("subgraph cluster_{0} {{\nlabel=\"{0}\"\n", name);
    std::unordered_map<const GraphNode*, std::string> names;
    for (const auto& node : graph.nodes()) {
        const std::string own = fmt::format("{}_node_{}", name, names.size());
        dot += fmt::format("\"{}\"[shape=box label=\"{}\\n{}\"];\n", own, names.size(),
                           label(node->operation));
        names[node.get()] = own;
    }
    for (const auto& [from, to] : graph.edges())
        dot += fmt::format("\"{}\" -> \"{}\";\n", names.at(from), names.at(to));
    dot += "}\n";
    for (const auto& node : graph.nodes())
        if (const auto* child = std::get_if<ChildGraph>(&node->operation))
            write(*child->graph, graphs, dot);
}

}  // namespace

LOCKSTEP_CUDA Error cudaGraphDebugDotPrint(Graph* handle, const char* path, unsigned) {
    return call([&](Context& context) {
        const auto graph = context.graphs.find(handle);
        if (!graph || !path) return Error::kInvalidValue;
        std::string dot = "digraph dot {\n";
        unsigned graphs = 0;
        write(*graph, graphs, dot);
        dot += "}\n";
        std::ofstream file(path);
        return file << dot << std::flush ? Error::kSuccess : Error::kOperatingSystem;
    });
}

}  // namespace lockstep::cuda
