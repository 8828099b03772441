// SPDX-License-Identifier: Apache-2.0
// Values between share one piece of memory: two may have the same addresses where one is no longer
// read when the other is written. The largest are placed first, each at the lowest address where
// it fits among those that live at the same time (Pisarchyk and Lee, "Efficient Memory Management
// for Deep Neural Net Inference" (2020), greedy by size).
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/compile/buffer.h"
#include "workloads/network/gpu/lowering.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/uses.h"

namespace lockstep::network::gpu {

namespace {

/// Launches after its last one for which a buffer's memory is not used again, where they may run
/// beside each other: as many as branches of networks have.
constexpr int kBeside = 16;

void find_lifetimes(Executable& code) {
    for (std::size_t i = 0; i < code.launches.size(); ++i)
        for (const Relocation& pointer : code.launches[i].pointers) {
            Buffer& buffer = code.buffers[pointer.buffer];
            if (buffer.first < 0) buffer.first = static_cast<int>(i);
            buffer.last = static_cast<int>(i) + (code.options.beside ? kBeside : 0);
        }
}

bool meet(const Buffer& a, const Buffer& b) {
    return a.first <= b.last && b.first <= a.last;
}

std::string amount(std::uint64_t bytes) {
    return bytes < 10'000'000 ? fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3)
                              : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

/// A tensor and its bytes.
using Sized = std::pair<std::string, std::uint64_t>;

[[noreturn]] void refuse(const std::string& needs, const Target& target, std::vector<Sized> all) {
    std::ranges::stable_sort(all, std::greater<>(), &Sized::second);
    std::string text;
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(kShown, all.size()); ++i)
        text += fmt::format("\n  {}: {}", all[i].first, amount(all[i].second));
    throw InputError(fmt::format("{} of memory, {} has {}; its largest tensors:{}", needs,
                                 target.name, amount(target.memory_bytes), text));
}

void check_size(const Executable& code) {
    if (code.bytes() <= code.target.memory_bytes) return;
    std::vector<Sized> all;
    for (const Buffer& buffer : code.buffers) all.emplace_back(buffer.name, buffer.bytes);
    refuse(fmt::format("{} needs {}", code.graph.name, amount(code.bytes())), code.target,
           std::move(all));
}

}  // namespace

void check_least_memory(const Graph& graph, const Target& target) {
    std::uint64_t always = 0, largest = 0;
    std::vector<Sized> all;
    const auto add = [&](ValueId id) {
        const Value& value = graph.value(id);
        const std::uint64_t bytes =
            static_cast<std::uint64_t>(element_count(graph.shape(id))) * size_of(value.type);
        all.emplace_back(value.name, bytes);
        return bytes;
    };
    const Uses uses(graph);
    for (ValueId id = 0; id < graph.values.size(); ++id)
        if (!uses.readers(id).empty() && is_given(graph.values[id]) && graph.values[id].shape)
            always += add(id);
    for (const ValueId id : graph.inputs) always += add(id);
    // Whatever is fused with it, a tensor of the result's shape is stored; scores of attention,
    // which no weight is an operand of, may not be.
    for (const Node& node : graph.nodes)
        if (node.op == Operator::kConv || node.op == Operator::kGemm ||
            (node.op == Operator::kMatMul && is_given(graph.value(node.inputs[1]))))
            largest = std::max(largest, add(node.outputs[0]));
    if (always + largest > target.memory_bytes)
        refuse(fmt::format("{} needs at least {}", graph.name, amount(always + largest)), target,
               std::move(all));
}

void plan_memory(Executable& code) {
    find_lifetimes(code);
    std::vector<Buffer*> between;
    for (Buffer& buffer : code.buffers)
        if (buffer.use == BufferUse::kBetween && buffer.first >= 0) between.push_back(&buffer);
    std::ranges::stable_sort(between,
                             [](const Buffer* a, const Buffer* b) { return a->bytes > b->bytes; });
    std::vector<Buffer*> placed;  // by address
    for (Buffer* const buffer : between) {
        std::uint64_t address = 0;
        for (const Buffer* const other : placed) {
            if (!meet(*buffer, *other)) continue;
            if (address + buffer->bytes <= other->address) break;
            address = std::max(address, compile::aligned(other->address + other->bytes));
        }
        buffer->address = address;
        code.shared_memory = std::max(code.shared_memory, address + buffer->bytes);
        placed.insert(std::ranges::upper_bound(placed, address, {}, &Buffer::address), buffer);
    }
    check_size(code);
}

}  // namespace lockstep::network::gpu
