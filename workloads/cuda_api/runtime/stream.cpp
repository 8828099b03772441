// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "workloads/cuda_api/state/stream.h"

#include <algorithm>
#include <cstring>

#include "workloads/cuda_api/runtime/call.h"
#include "workloads/cuda_api/state/graph.h"

namespace lockstep::cuda {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kEventFlags = 7, kDisableTiming = 2, kInterprocess = 4;

Error with_stream(Stream* handle, const std::function<Error(Context&, Stream&)>& body) {
    return call([&](Context& context) {
        Stream* stream = context.streams.find(handle);
        return stream ? body(context, *stream) : Error::kInvalidResourceHandle;
    });
}

Error create(Stream** result, unsigned flags, int priority) {
    return call([&](Context& context) {
        if (!result || (flags & ~kNonBlocking) != 0) return Error::kInvalidValue;
        *result = context.streams.create(flags, std::min(0, std::max(priority, -5)));
        return Error::kSuccess;
    });
}

}  // namespace

LOCKSTEP_CUDA Error cudaStreamCreate(Stream** stream) {
    return create(stream, 0, 0);
}
LOCKSTEP_CUDA Error cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
    return create(stream, flags, 0);
}
LOCKSTEP_CUDA Error cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
    return create(stream, flags, priority);
}
LOCKSTEP_CUDA Error cudaStreamDestroy(Stream* stream) {
    return call([&](Context& context) { return context.streams.destroy(stream); });
}
LOCKSTEP_CUDA Error cudaStreamSynchronize(Stream* stream) {
    return call_and_wait([&](Context& context) { return context.streams.synchronize(stream); });
}
LOCKSTEP_CUDA Error cudaStreamQuery(Stream* stream) {
    return call_and_wait([&](Context& context) { return context.streams.query(stream); });
}
LOCKSTEP_CUDA Error cudaStreamWaitEvent(Stream* stream, Event* event, unsigned) {
    return call([&](Context& context) { return context.streams.wait(stream, event); });
}
LOCKSTEP_CUDA Error cudaStreamGetPriority(Stream* stream, int* priority) {
    return with_stream(stream, [&](Context&, Stream& s) {
        return priority ? (*priority = s.priority, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaStreamGetFlags(Stream* stream, unsigned* flags) {
    return with_stream(stream, [&](Context&, Stream& s) {
        return flags ? (*flags = s.flags, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaStreamGetId(Stream* stream, unsigned long long* id) {
    return with_stream(stream, [&](Context&, Stream& s) {
        return id ? (*id = s.id, Error::kSuccess) : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaStreamGetDevice(Stream* stream, int* device) {
    return with_stream(stream, [&](Context&, Stream& s) {
        return device ? (*device = static_cast<int>(s.device), Error::kSuccess)
                      : Error::kInvalidValue;
    });
}

// Attributes are hints to the L2 and to the host's way of waiting, and the priority.
LOCKSTEP_CUDA Error cudaStreamSetAttribute(Stream* stream, abi::LaunchAttributeId attribute,
                                           const abi::LaunchAttributeValue* value) {
    return with_stream(stream, [&](Context& context, Stream& s) {
        if (!value) return Error::kInvalidValue;
        return attribute == abi::kLaunchAttributePriority
                   ? context.streams.set_priority(s, value->priority)
                   : Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaStreamGetAttribute(Stream* stream, abi::LaunchAttributeId attribute,
                                           abi::LaunchAttributeValue* value) {
    return with_stream(stream, [&](Context&, Stream& s) {
        if (!value) return Error::kInvalidValue;
        switch (attribute) {
            case abi::kLaunchAttributeAccessPolicyWindow:
                std::memset(value, 0, 32);
                break;
            case abi::kLaunchAttributeSynchronizationPolicy:
                std::memset(value, 0, 4);
                break;
            case abi::kLaunchAttributePriority:
                value->priority = s.priority;
                break;
            default:
                return Error::kInvalidValue;
        }
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaStreamCopyAttributes(Stream* to, Stream* from) {
    return with_stream(from, [&](Context& context, Stream& source) {
        Stream* target = context.streams.find(to);
        if (!target) return Error::kInvalidResourceHandle;
        return context.streams.set_priority(*target, source.priority);
    });
}

LOCKSTEP_CUDA Error cudaEventCreateWithFlags(Event** event, unsigned flags) {
    return call([&](Context& context) {
        const bool shared = (flags & kInterprocess) != 0;
        if (!event || (flags & ~kEventFlags) != 0 || (shared && (flags & kDisableTiming) == 0))
            return Error::kInvalidValue;
        if (shared) return Error::kNotSupported;
        *event = context.streams.create_event(flags);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaEventCreate(Event** event) {
    return cudaEventCreateWithFlags(event, 0);
}
LOCKSTEP_CUDA Error cudaEventDestroy(Event* event) {
    return call([&](Context& context) { return context.streams.destroy_event(event); });
}
LOCKSTEP_CUDA Error cudaEventRecord(Event* event, Stream* stream) {
    return call([&](Context& context) { return context.streams.record(event, stream); });
}
LOCKSTEP_CUDA Error cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
    return call([&](Context& context) {
        constexpr unsigned kExternal = 1;
        Stream* target = context.streams.find(stream);
        if (flags == kExternal && target && target->capturing() && context.streams.is_event(event))
            return context.streams.submit(stream, RecordEvent{event});
        return context.streams.record(event, stream);
    });
}
LOCKSTEP_CUDA Error cudaEventSynchronize(Event* event) {
    return call_and_wait([&](Context& context) { return context.streams.synchronize(event); });
}
LOCKSTEP_CUDA Error cudaEventQuery(Event* event) {
    return call_and_wait([&](Context& context) { return context.streams.query(event); });
}
LOCKSTEP_CUDA Error cudaEventElapsedTime(float* milliseconds, Event* start, Event* end) {
    return call_and_wait([&](Context& context) {
        if (!context.streams.is_event(start) || !context.streams.is_event(end))
            return Error::kInvalidResourceHandle;
        if (!milliseconds) return Error::kInvalidValue;
        if (!start->recorded || !end->recorded || ((start->flags | end->flags) & kDisableTiming))
            return Error::kInvalidResourceHandle;
        const Timeline* const line = context.timeline();
        if (line != nullptr && !(line->is_done(start->work) && line->is_done(end->work)))
            return Error::kNotReady;
        *milliseconds = static_cast<float>((end->time() - start->time()) * 1e3);
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaStreamBeginCapture(Stream* stream, abi::CaptureMode mode) {
    return call([&](Context& context) { return context.streams.begin_capture(stream, mode); });
}
LOCKSTEP_CUDA Error cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph,
                                                  GraphNode* const* dependencies,
                                                  const abi::GraphEdgeData*, std::size_t count,
                                                  abi::CaptureMode mode) {
    return call([&](Context& context) {
        auto target = context.graphs.find(graph);
        if (!target || (count != 0 && !dependencies)) return Error::kInvalidValue;
        return context.streams.begin_capture(stream, mode, std::move(target),
                                             {dependencies, dependencies + count});
    });
}
LOCKSTEP_CUDA Error cudaStreamEndCapture(Stream* stream, Graph** graph) {
    return call([&](Context& context) { return context.streams.end_capture(stream, graph); });
}
LOCKSTEP_CUDA Error cudaStreamIsCapturing(Stream* stream, abi::CaptureStatus* status) {
    return with_stream(stream, [&](Context&, Stream& s) {
        if (!status) return Error::kInvalidValue;
        *status = s.capturing() ? s.capture->status : abi::kCaptureNone;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaThreadExchangeStreamCaptureMode(abi::CaptureMode* mode) {
    thread_local abi::CaptureMode current = abi::kCaptureGlobal;
    return call([&](Context&) {
        if (!mode) return Error::kInvalidValue;
        std::swap(current, *mode);
        return Error::kSuccess;
    });
}

}  // namespace lockstep::cuda
