// SPDX-License-Identifier: Apache-2.0
// A GPU works off its streams behind the program's back; here an operation is complete when the
// call that submits it returns, which is one of the orders the hardware may choose. Copies are host
// copies, because device memory lies in this process.
#include "workloads/cuda_api/state/operation.h"

#include <cstring>

#include "workloads/cuda_api/state/context.h"
#include "workloads/cuda_api/state/graph.h"
#include "workloads/cuda_api/state/launch.h"

namespace lockstep::cuda {
namespace {

template <class... Bodies>
struct Overloaded : Bodies... {
    using Bodies::operator()...;
};

void fill_row(char* row, unsigned value, unsigned element_bytes, std::size_t elements) {
    if (element_bytes == 1) {
        std::memset(row, static_cast<int>(value & 0xff), elements);
        return;
    }
    for (std::size_t i = 0; i < elements; ++i)
        std::memcpy(row + i * element_bytes, &value, element_bytes);
}

/// Bytes from the first to the last byte of a box.
std::size_t extent(std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch,
                   std::size_t slice) {
    return (depth - 1) * slice + (height - 1) * pitch + width;
}

Error check_copy(Context& context, const Copy& box) {
    if (box.kind < abi::kHostToHost || box.kind > abi::kDefault)
        return Error::kInvalidMemcpyDirection;
    if (box.width == 0 || box.height == 0 || box.depth == 0) return Error::kSuccess;
    if (!box.dst || !box.src) return Error::kInvalidValue;
    if (box.height > 1 && (box.width > box.dst_pitch || box.width > box.src_pitch))
        return Error::kInvalidPitchValue;
    const bool to_device = box.kind == abi::kHostToDevice || box.kind == abi::kDeviceToDevice;
    const bool from_device = box.kind == abi::kDeviceToHost || box.kind == abi::kDeviceToDevice;
    const std::size_t dst_bytes =
        extent(box.width, box.height, box.depth, box.dst_pitch, box.dst_slice);
    const std::size_t src_bytes =
        extent(box.width, box.height, box.depth, box.src_pitch, box.src_slice);
    if (!context.memory.accessible(box.dst, dst_bytes, to_device) ||
        !context.memory.accessible(box.src, src_bytes, from_device))
        return Error::kInvalidValue;
    return Error::kSuccess;
}

Error check_fill(Context& context, const Fill& box) {
    if (box.width == 0 || box.height == 0 || box.depth == 0) return Error::kSuccess;
    if (!box.dst) return Error::kInvalidValue;
    if (box.element_bytes != 1 && box.element_bytes != 2 && box.element_bytes != 4)
        return Error::kInvalidValue;
    const std::size_t row = box.width * box.element_bytes;
    if (box.height > 1 && row > box.pitch) return Error::kInvalidPitchValue;
    const std::size_t bytes = extent(row, box.height, box.depth, box.pitch, box.slice);
    return context.memory.accessible(box.dst, bytes, true) ? Error::kSuccess : Error::kInvalidValue;
}

}  // namespace

void perform(Context& context, const Copy& box) {
    for (std::size_t z = 0; z < box.depth; ++z)
        for (std::size_t y = 0; y < box.height; ++y) {
            char* const row = static_cast<char*>(box.dst) + z * box.dst_slice + y * box.dst_pitch;
            const char* const from =
                static_cast<const char*>(box.src) + z * box.src_slice + y * box.src_pitch;
            std::memmove(row, from, box.width);
            Device& device = context.device();
            device.note_transfer(reinterpret_cast<DevicePointer>(from), box.width, Transfer::kRead);
            device.note_transfer(reinterpret_cast<DevicePointer>(row), box.width, Transfer::kWrite);
        }
}

void perform(Context& context, const Fill& box) {
    for (std::size_t z = 0; z < box.depth; ++z)
        for (std::size_t y = 0; y < box.height; ++y) {
            char* const row = static_cast<char*>(box.dst) + z * box.slice + y * box.pitch;
            const auto begin = reinterpret_cast<DevicePointer>(row);
            const std::uint64_t bytes = box.width * box.element_bytes;
            if (box.value != 0 || !context.device().clear(begin, bytes))
                fill_row(row, box.value, box.element_bytes, box.width);
            context.device().note_transfer(begin, bytes, Transfer::kWrite);
        }
}

abi::GraphNodeType node_type(const Operation& operation) {
    return std::visit(Overloaded{[](const KernelLaunch&) { return abi::kNodeKernel; },
                                 [](const Copy&) { return abi::kNodeMemcpy; },
                                 [](const Fill&) { return abi::kNodeMemset; },
                                 [](const HostCall&) { return abi::kNodeHost; },
                                 [](const StreamCall&) { return abi::kNodeHost; },
                                 [](const ChildGraph&) { return abi::kNodeGraph; },
                                 [](const Nothing&) { return abi::kNodeEmpty; },
                                 [](const RecordEvent&) { return abi::kNodeEventRecord; },
                                 [](const WaitEvent&) { return abi::kNodeWaitEvent; },
                                 [](const Allocate&) { return abi::kNodeMemAlloc; },
                                 [](const Free&) { return abi::kNodeMemFree; }},
                      operation);
}

Error check(Context& context, const Operation& operation) {
    if (const auto* launch = std::get_if<KernelLaunch>(&operation))
        return check_launch(context, *launch);
    if (const auto* box = std::get_if<Copy>(&operation)) return check_copy(context, *box);
    if (const auto* box = std::get_if<Fill>(&operation)) return check_fill(context, *box);
    if (const auto* call = std::get_if<HostCall>(&operation))
        return call->function ? Error::kSuccess : Error::kInvalidValue;
    if (const auto* call = std::get_if<StreamCall>(&operation))
        return call->function ? Error::kSuccess : Error::kInvalidValue;
    return Error::kSuccess;
}

Error execute(Context& context, const Operation& operation) {
    return std::visit(
        Overloaded{[&](const KernelLaunch& launch) { return context.launch(launch); },
                   [&](const Copy& box) { return perform(context, box), Error::kSuccess; },
                   [&](const Fill& box) { return perform(context, box), Error::kSuccess; },
                   [&](const HostCall& call) {
                       context.run_unlocked([&] { call.function(call.data); });
                       return Error::kSuccess;
                   },
                   [&](const StreamCall& call) {
                       context.run_unlocked(
                           [&] { call.function(call.stream, Error::kSuccess, call.data); });
                       return Error::kSuccess;
                   },
                   [&](const ChildGraph& child) { return child.graph->run(context); },
                   [&](const Nothing&) { return Error::kSuccess; },
                   [&](const RecordEvent& record) {
                       record.event->record(context.now());
                       return Error::kSuccess;
                   },
                   [&](const WaitEvent&) { return Error::kSuccess; },
                   [&](const Allocate& allocate) {
                       context.memory.allocate_in_graph(allocate.parameters.dptr);
                       return Error::kSuccess;
                   },
                   [&](const Free& free) { return context.memory.free_device(free.pointer); }},
        operation);
}

}  // namespace lockstep::cuda
