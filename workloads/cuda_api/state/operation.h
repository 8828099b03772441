// SPDX-License-Identifier: Apache-2.0
// What can be put into a stream or a graph: plain data that is executed now or kept for later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "isa/sass/state.h"
#include "workloads/cuda_api/state/abi.h"

namespace lockstep::cuda {

class Context;

struct KernelLaunch {
    Kernel* kernel = nullptr;
    sass::Dim3 grid, block, cluster;
    std::size_t dynamic_shared = 0;
    bool cooperative = false;
    bool programmatic = false;          ///< may begin when the launch ahead of it triggers it
    std::vector<std::byte> parameters;  ///< packed as the kernel's parameter area
    std::vector<void*> arguments;       ///< into parameters, for cudaGraphKernelNodeGetParams
    unsigned device = 0;                ///< that the calling thread had chosen
};

/// A box of bytes; a plain copy has height and depth 1.
struct Copy {
    void* dst = nullptr;
    const void* src = nullptr;
    std::size_t width = 0, height = 1, depth = 1;
    std::size_t dst_pitch = 0, src_pitch = 0;  ///< bytes from row to row
    std::size_t dst_slice = 0, src_slice = 0;  ///< bytes from layer to layer
    abi::MemcpyKind kind = abi::kDefault;
};

/// A box of elements of 1, 2 or 4 bytes.
struct Fill {
    void* dst = nullptr;
    unsigned value = 0;
    unsigned element_bytes = 1;
    std::size_t width = 0, height = 1, depth = 1;  ///< width in elements
    std::size_t pitch = 0, slice = 0;
};

struct HostCall {
    abi::HostFunction function = nullptr;
    void* data = nullptr;
};
struct StreamCall {
    abi::StreamCallback function = nullptr;
    Stream* stream = nullptr;
    void* data = nullptr;
};
struct ChildGraph {
    std::shared_ptr<Graph> graph;
};
struct Nothing {};
struct RecordEvent {
    Event* event = nullptr;
};
struct WaitEvent {
    Event* event = nullptr;
};
/// Memory of a graph: it lies at a fixed address from when the node is made.
struct Allocate {
    abi::MemAllocNodeParams parameters{};
};
struct Free {
    void* pointer = nullptr;
};

using Operation = std::variant<KernelLaunch, Copy, Fill, HostCall, StreamCall, ChildGraph, Nothing,
                               RecordEvent, WaitEvent, Allocate, Free>;

abi::GraphNodeType node_type(const Operation& operation);

/// What the call that submits the operation reports about its arguments.
Error check(Context& context, const Operation& operation);

/// Does a copy or fill to memory.
void perform(Context& context, const Copy& box);
void perform(Context& context, const Fill& box);

/// Executes a checked operation to its end, at once.
Error execute(Context& context, const Operation& operation);

}  // namespace lockstep::cuda
