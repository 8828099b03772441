// SPDX-License-Identifier: Apache-2.0
// When calls return is laid down in the CUDA Runtime API, "API synchronization behavior": copies
// from pageable memory when the data has been staged, copies to it when they are done, copies
// within the device and sets of its memory at once. Managed memory counts as the device's: that
// pages move between host and device is left out.
#include "workloads/cuda_api/state/timed_work.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "workloads/cuda_api/state/context.h"
#include "workloads/cuda_api/state/launch.h"

namespace lockstep::cuda {
namespace {

template <class... Bodies>
struct Overloaded : Bodies... {
    using Bodies::operator()...;
};

enum class Place { kDevice, kPinned, kPageable };

Place place_of(Context& context, const void* pointer) {
    const AllocationInfo info = context.memory.find(pointer);
    if (info.bytes == 0) return Place::kPageable;
    const bool is_device = info.kind == MemoryKind::kDevice || info.kind == MemoryKind::kManaged;
    return is_device ? Place::kDevice : Place::kPinned;
}

/// Between two devices over their link where either may access the other's memory, else by way of
/// the host (CUDA C++ Programming Guide, peer-to-peer memory copy).
void set_devices(Context& context, const Copy& box, TransferWork& work) {
    DeviceGroup* const group = context.group();
    if (group == nullptr) return;
    const unsigned from = group->owner(reinterpret_cast<DevicePointer>(box.src));
    const unsigned to = group->owner(reinterpret_cast<DevicePointer>(box.dst));
    work.device = work.kind == TransferKind::kHostToDevice ? to : from;
    if (work.kind != TransferKind::kDeviceToDevice || from == to) return;
    work.kind = TransferKind::kPeerToPeer;
    work.peer = to;
    work.is_staged = !group->has_peer_access(from, to) && !group->has_peer_access(to, from);
}

TransferWork transfer_of(Context& context, const Copy& box) {
    const Place from = place_of(context, box.src), to = place_of(context, box.dst);
    TransferWork work;
    work.kind = from == Place::kDevice ? to == Place::kDevice ? TransferKind::kDeviceToDevice
                                                              : TransferKind::kDeviceToHost
                : to == Place::kDevice ? TransferKind::kHostToDevice
                                       : TransferKind::kHostToHost;
    work.bytes = std::uint64_t{box.width} * box.height * box.depth;
    work.is_pageable = from == Place::kPageable || to == Place::kPageable;
    work.perform = [&context, box] { perform(context, box); };
    set_devices(context, box, work);
    return work;
}

/// The source as it is now, for a copy whose source the program may change before it is done.
Copy with_staged_source(Context& context, const Copy& box,
                        std::shared_ptr<std::vector<std::byte>>& staged) {
    staged = std::make_shared<std::vector<std::byte>>(box.width * box.height * box.depth);
    Copy result = box;
    result.dst = staged->data();
    result.dst_pitch = box.width;
    result.dst_slice = box.width * box.height;
    perform(context, result);
    result.src = staged->data();
    result.src_pitch = result.dst_pitch;
    result.src_slice = result.dst_slice;
    result.dst = box.dst;
    result.dst_pitch = box.dst_pitch;
    result.dst_slice = box.dst_slice;
    return result;
}

bool waits(const TransferWork& work, Returns returns, std::uint64_t inline_bytes) {
    switch (work.kind) {
        case TransferKind::kHostToHost:
            return true;
        case TransferKind::kDeviceToHost:
            return returns == Returns::kWhenDone || work.is_pageable;
        case TransferKind::kHostToDevice:
            return returns == Returns::kWhenDone &&
                   !(work.is_pageable && work.bytes <= inline_bytes);
        case TransferKind::kDeviceToDevice:
        case TransferKind::kPeerToPeer:
        case TransferKind::kFill:
            break;
    }
    return false;
}

/// What the runtime library copies into the command.
constexpr std::uint64_t kInlineBytes = 64 * 1024;

class Submitter {
  public:
    Submitter(Context& context, Submission how)
        : context_(context), timeline_(*context.timeline()), how_(how) {}

    WorkId submit(StreamId stream, const Operation& operation, const std::vector<WorkId>& after,
                  Returns returns);

  private:
    WorkId put(StreamId stream, Work work, const std::vector<WorkId>& after) {
        return timeline_.submit(stream, std::move(work), after, how_);
    }
    WorkId copy(StreamId stream, const Copy& box, const std::vector<WorkId>& after,
                Returns returns);
    WorkId fill(StreamId stream, const Fill& box, const std::vector<WorkId>& after);
    WorkId launch(StreamId stream, const KernelLaunch& launch, const std::vector<WorkId>& after);
    WorkId run(StreamId stream, const Graph& graph, const std::vector<WorkId>& after);
    std::vector<WorkId> run_nodes(const Graph& graph, const std::vector<WorkId>& after);

    Context& context_;
    Timeline& timeline_;
    const Submission how_;
};

WorkId Submitter::copy(StreamId stream, const Copy& box, const std::vector<WorkId>& after,
                       Returns returns) {
    if (box.width == 0 || box.height == 0 || box.depth == 0) return put(stream, MarkWork{}, after);
    TransferWork work = transfer_of(context_, box);
    // Between devices it is serialised with the work of both.
    const bool joins = how_ == Submission::kByItself && returns == Returns::kWhenDone &&
                       work.kind == TransferKind::kPeerToPeer;
    if (joins) context_.wait_for_all();
    const bool must_wait =
        joins || (how_ == Submission::kByItself && waits(work, returns, kInlineBytes));
    if (how_ == Submission::kByItself && !must_wait && work.is_pageable) {
        std::shared_ptr<std::vector<std::byte>> staged;
        const Copy from_staged = with_staged_source(context_, box, staged);
        Context* const context = &context_;
        work.perform = [context, from_staged, staged] { perform(*context, from_staged); };
    }
    const WorkId id = put(stream, std::move(work), after);
    if (must_wait) context_.wait_until([&] { return timeline_.is_done(id); });
    return id;
}

WorkId Submitter::fill(StreamId stream, const Fill& box, const std::vector<WorkId>& after) {
    const Place place = place_of(context_, box.dst);
    Context* const context = &context_;
    const std::uint64_t bytes =
        std::uint64_t{box.width} * box.element_bytes * box.height * box.depth;
    const WorkId id = put(stream,
                          TransferWork{.kind = place == Place::kDevice ? TransferKind::kFill
                                                                       : TransferKind::kHostToHost,
                                       .bytes = bytes,
                                       .perform = [context, box] { perform(*context, box); },
                                       .device = context_.owner(box.dst)},
                          after);
    if (place != Place::kDevice && how_ == Submission::kByItself)
        context_.wait_until([&] { return timeline_.is_done(id); });
    return id;
}

WorkId Submitter::launch(StreamId stream, const KernelLaunch& launch,
                         const std::vector<WorkId>& after) {
    const auto kept = std::make_shared<const KernelLaunch>(launch);
    Context* const context = &context_;
    return put(
        stream,
        KernelWork{.request = request_of(launch),
                   .parameters = launch.parameters,
                   .ended = [context, kept](
                                const LaunchResult& result) { context->add_step(*kept, result); },
                   .device = launch.device},
        after);
}

/// The graph's work follows `after` and what is in the stream; what comes into the stream later
/// follows all of it.
WorkId Submitter::run(StreamId stream, const Graph& graph, const std::vector<WorkId>& after) {
    const WorkId begin = put(stream, MarkWork{}, after);
    return put(stream, MarkWork{}, run_nodes(graph, {begin}));
}

std::vector<WorkId> Submitter::run_nodes(const Graph& graph, const std::vector<WorkId>& after) {
    std::unordered_map<const GraphNode*, std::vector<WorkId>> of;
    std::vector<WorkId> all = after;
    for (const GraphNode* node : graph.order()) {
        std::vector<WorkId> needs;
        for (const GraphNode* need : node->dependencies)
            needs.insert(needs.end(), of[need].begin(), of[need].end());
        if (node->dependencies.empty()) needs = after;
        if (!node->enabled) {
            of[node] = needs;
            continue;
        }
        if (const auto* child = std::get_if<ChildGraph>(&node->operation))
            of[node] = run_nodes(*child->graph, needs);
        else
            of[node] = {submit(kNoStream, node->operation, needs, Returns::kWhenSubmitted)};
        all.insert(all.end(), of[node].begin(), of[node].end());
    }
    return all;
}

WorkId Submitter::submit(StreamId stream, const Operation& operation,
                         const std::vector<WorkId>& after, Returns returns) {
    Context* const context = &context_;
    return std::visit(
        Overloaded{
            [&](const KernelLaunch& kernel) { return launch(stream, kernel, after); },
            [&](const Copy& box) { return copy(stream, box, after, returns); },
            [&](const Fill& box) { return fill(stream, box, after); },
            [&](const HostCall& call) {
                return put(stream, HostWork{[context, call] {
                               context->run_unlocked([&call] { call.function(call.data); });
                           }},
                           after);
            },
            [&](const StreamCall& call) {
                return put(stream, HostWork{[context, call] {
                               context->run_unlocked([&call] {
                                   call.function(call.stream, Error::kSuccess, call.data);
                               });
                           }},
                           after);
            },
            [&](const ChildGraph& child) {
                timeline_.spend(HostAction::kGraphLaunch);
                return Submitter(context_, Submission::kByGraph).run(stream, *child.graph, after);
            },
            [&](const Nothing&) { return put(stream, MarkWork{}, after); },
            [&](const RecordEvent& record) {
                return record.event->work = put(stream, record.event->mark(), after);
            },
            [&](const WaitEvent& wait) {
                std::vector<WorkId> both = after;
                both.push_back(wait.event->work);
                return put(stream, MarkWork{}, both);
            },
            [&](const Allocate& allocate) {
                void* const pointer = allocate.parameters.dptr;
                return put(stream, MarkWork{[context, pointer](SimulatedTime) {
                               context->memory.allocate_in_graph(pointer);
                           }},
                           after);
            },
            [&](const Free& free) {
                void* const pointer = free.pointer;
                return put(stream, MarkWork{[context, pointer](SimulatedTime) {
                               context->memory.free_device(pointer);
                           }},
                           after);
            }},
        operation);
}

}  // namespace

WorkId submit_timed(Context& context, StreamId stream, const Operation& operation,
                    const std::vector<WorkId>& after, Returns returns) {
    return Submitter(context, Submission::kByItself).submit(stream, operation, after, returns);
}

}  // namespace lockstep::cuda
