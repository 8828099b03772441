// SPDX-License-Identifier: Apache-2.0
// A stream is a queue and an event a mark in it. On a device without time each operation is
// executed when it is submitted, one of the orders the hardware may choose: whatever an operation
// may depend on was submitted before it. Capture follows the programming guide: a stream joins by
// waiting for an event of the capture and must be joined back before the origin stream ends it.
#include "workloads/cuda_api/state/stream.h"

#include <algorithm>
#include <thread>

#include "workloads/cuda_api/state/context.h"
#include "workloads/cuda_api/state/default_stream.h"
#include "workloads/cuda_api/state/graph.h"

namespace lockstep::cuda {
namespace {

constexpr unsigned kNonBlocking = 1;

}  // namespace

Streams::Streams(Context& context) : context_(context) {}

Streams::~Streams() {
    clear();
}

Stream* Streams::find(Stream* handle) {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    constexpr std::uintptr_t kLegacy = 1, kPerThread = 2;
    if (value == kPerThread || (value == 0 && null_is_per_thread())) return per_thread();
    if (value <= kLegacy) return legacy();
    return streams_.contains(handle) ? handle : nullptr;
}

Stream* Streams::legacy() {
    std::unique_ptr<Stream>& stream = legacy_[DeviceGroup::current()];
    if (stream == nullptr) {
        stream = std::make_unique<Stream>();
        stream->id = next_id_++;
        stream->device = DeviceGroup::current();
        stream->is_legacy = true;
    }
    return stream.get();
}

Stream* Streams::per_thread() {
    std::unique_ptr<Stream>& stream =
        per_thread_[{std::this_thread::get_id(), DeviceGroup::current()}];
    if (stream == nullptr) {
        stream = std::make_unique<Stream>();
        stream->id = next_id_++;
        stream->device = DeviceGroup::current();
    }
    return stream.get();
}

Stream* Streams::create(unsigned flags, int priority) {
    auto* stream = new Stream;
    stream->flags = flags;
    stream->priority = priority;
    stream->device = DeviceGroup::current();
    stream->id = next_id_++;
    streams_.insert(stream);
    return stream;
}

Error Streams::destroy(Stream* handle) {
    if (!streams_.contains(handle)) return Error::kInvalidResourceHandle;
    if (handle->capturing()) {
        Capture& capture = *handle->capture;
        if (capture.origin == handle) {
            leave(capture);
        } else {  // what it did stays in the graph and must still be joined
            capture.left.insert(capture.left.end(), handle->last.begin(), handle->last.end());
            capture.streams.erase(handle);
        }
    }
    if (handle->queue) {
        context_.timeline()->close_stream(*handle->queue);
        destroyed_.emplace_back(handle->device, *handle->queue);
    }
    streams_.erase(handle);
    delete handle;
    return Error::kSuccess;
}

Event* Streams::create_event(unsigned flags) {
    auto* event = new Event;
    event->flags = flags;
    event->device = DeviceGroup::current();
    events_.insert(event);
    return event;
}

Error Streams::destroy_event(Event* event) {
    if (events_.erase(event) == 0) return Error::kInvalidResourceHandle;
    delete event;
    return Error::kSuccess;
}

/// Work in the legacy default stream waits for all blocking streams, which a captured one cannot
/// take part in: the capture becomes invalid.
Error Streams::check_implicit(const Stream* stream) {
    if (!is_legacy(stream)) return Error::kSuccess;
    Error result = Error::kSuccess;
    for (Capture* capture : captures_)
        if (capture->mode == abi::kCaptureGlobal && capture->origin &&
            (capture->origin->flags & 1) == 0) {
            capture->status = abi::kCaptureInvalidated;
            result = Error::kStreamCaptureImplicit;
        }
    return result;
}

StreamId Streams::queue_of(Stream& stream) {
    if (!stream.queue)
        stream.queue = is_legacy(&stream) && stream.device == 0
                           ? kDefaultStream
                           : context_.timeline()->open_stream(
                                 {.priority = stream.priority,
                                  .joins_default = (stream.flags & kNonBlocking) == 0,
                                  .device = stream.device,
                                  .is_default = is_legacy(&stream)});
    return *stream.queue;
}

Error Streams::submit(Stream* handle, const Operation& operation, Returns returns) {
    Stream* stream = find(handle);
    if (!stream) return Error::kInvalidResourceHandle;
    if (const Error error = check_implicit(stream); error != Error::kSuccess) return error;
    if (const Error error = check(context_, operation); error != Error::kSuccess) return error;
    // A kernel's stream is its device's.
    if (const auto* launch = std::get_if<KernelLaunch>(&operation);
        launch != nullptr && launch->device != stream->device)
        return Error::kInvalidResourceHandle;
    if (!stream->capturing()) {
        if (context_.timeline() == nullptr) return execute(context_, operation);
        if (!context_.has_fault())  // nothing runs after a fault
            submit_timed(context_, queue_of(*stream), operation, {}, returns);
        return Error::kSuccess;
    }
    if (stream->capture->status != abi::kCaptureActive) return Error::kStreamCaptureInvalidated;
    stream->last = {stream->capture->graph->add(operation, stream->last)};
    return Error::kSuccess;
}

Error Streams::check_wait(Stream* handle) {
    Stream* stream = find(handle);
    if (!stream) return Error::kInvalidResourceHandle;
    if (stream->capturing()) {
        stream->capture->status = abi::kCaptureInvalidated;
        return Error::kStreamCaptureUnsupported;
    }
    return check_implicit(stream);
}

Error Streams::synchronize(Stream* handle) {
    if (const Error error = check_wait(handle); error != Error::kSuccess) return error;
    if (Timeline* const line = context_.timeline()) {
        line->spend(HostAction::kCall);
        const StreamId queue = queue_of(*find(handle));
        context_.wait_until([&] { return line->is_idle(queue); });
    }
    return Error::kSuccess;
}

Error Streams::query(Stream* handle) {
    if (const Error error = check_wait(handle); error != Error::kSuccess) return error;
    Timeline* const line = context_.timeline();
    if (line == nullptr) return Error::kSuccess;
    context_.poll();
    return line->is_idle(queue_of(*find(handle))) ? Error::kSuccess : Error::kNotReady;
}

Error Streams::synchronize_all() {
    if (const Error error = check_wait_all(); error != Error::kSuccess) return error;
    Timeline* const line = context_.timeline();
    if (line == nullptr) return Error::kSuccess;
    line->spend(HostAction::kCall);
    if (context_.device_count() == 1) {
        context_.wait_for_all();
        return Error::kSuccess;
    }
    // Those of the thread's device.
    std::vector<StreamId> queues;
    const auto add = [&](const Stream& stream) {
        if (stream.device == DeviceGroup::current() && stream.queue)
            queues.push_back(*stream.queue);
    };
    for (const Stream* stream : streams_) add(*stream);
    for (const auto& [key, stream] : per_thread_) add(*stream);
    for (const auto& [device, stream] : legacy_) add(*stream);
    std::erase_if(destroyed_, [&](const auto& entry) { return line->is_idle(entry.second); });
    for (const auto& [device, queue] : destroyed_)
        if (device == DeviceGroup::current()) queues.push_back(queue);
    context_.wait_until([&] {
        return std::all_of(queues.begin(), queues.end(),
                           [&](StreamId queue) { return line->is_idle(queue); });
    });
    return Error::kSuccess;
}

Error Streams::synchronize(Event* event) {
    if (!is_event(event)) return Error::kInvalidResourceHandle;
    if (event->capture) return Error::kCapturedEvent;
    if (Timeline* const line = context_.timeline()) {
        line->spend(HostAction::kCall);
        const WorkId work = event->work;
        context_.wait_until([&] { return line->is_done(work); });
    }
    return Error::kSuccess;
}

Error Streams::query(Event* event) {
    if (!is_event(event)) return Error::kInvalidResourceHandle;
    if (event->capture) return Error::kCapturedEvent;
    Timeline* const line = context_.timeline();
    if (line == nullptr) return Error::kSuccess;
    context_.poll();
    return line->is_done(event->work) ? Error::kSuccess : Error::kNotReady;
}

Error Streams::set_priority(Stream& stream, int priority) {
    stream.priority = priority;
    if (stream.queue) context_.timeline()->set_priority(*stream.queue, priority);
    return Error::kSuccess;
}

MarkWork Event::mark() {
    recorded = true;
    capture.reset();
    at = std::make_shared<SimulatedTime>(0);  // one recorded before may be under way
    return {[at = at](SimulatedTime time) { *at = time; }};
}

Error Streams::check_wait_all() {
    Error result = Error::kSuccess;
    for (Capture* capture : captures_)
        if (capture->mode != abi::kCaptureRelaxed) {
            capture->status = abi::kCaptureInvalidated;
            result = Error::kStreamCaptureUnsupported;
        }
    return result;
}

Error Streams::record(Event* event, Stream* handle) {
    Stream* stream = find(handle);
    if (!stream || !is_event(event)) return Error::kInvalidResourceHandle;
    if (event->device != stream->device) return Error::kInvalidResourceHandle;
    if (const Error error = check_implicit(stream); error != Error::kSuccess) return error;
    if (!stream->capturing()) {
        if (context_.timeline() == nullptr)
            event->record(context_.now());
        else
            submit_timed(context_, queue_of(*stream), RecordEvent{event}, {},
                         Returns::kWhenSubmitted);
        return Error::kSuccess;
    }
    if (stream->capture->status != abi::kCaptureActive) return Error::kStreamCaptureInvalidated;
    event->capture = stream->capture;
    event->nodes = stream->last;
    event->recorded = true;
    return Error::kSuccess;
}

Error Streams::wait(Stream* handle, Event* event) {
    Stream* stream = find(handle);
    if (!stream || !is_event(event)) return Error::kInvalidResourceHandle;
    const bool is_captured = event->capture && event->capture->graph != nullptr;
    if (!is_captured && !stream->capturing() && context_.timeline() != nullptr)
        submit_timed(context_, queue_of(*stream), WaitEvent{event}, {}, Returns::kWhenSubmitted);
    if (!is_captured)
        return stream->capturing() && event->recorded && !event->capture
                   ? Error::kStreamCaptureIsolation
                   : Error::kSuccess;
    if (stream->capturing() && stream->capture != event->capture) return Error::kStreamCaptureMerge;
    if (is_legacy(stream)) return Error::kStreamCaptureImplicit;
    if (!stream->capturing()) {
        stream->capture = event->capture;
        stream->capture->streams.insert(stream);
        stream->last.clear();
    }
    for (GraphNode* node : event->nodes)
        if (std::find(stream->last.begin(), stream->last.end(), node) == stream->last.end())
            stream->last.push_back(node);
    return Error::kSuccess;
}

Error Streams::begin_capture(Stream* handle, abi::CaptureMode mode, std::shared_ptr<Graph> into,
                             std::vector<GraphNode*> dependencies) {
    Stream* stream = find(handle);
    if (!stream) return Error::kInvalidResourceHandle;
    if (is_legacy(stream)) return Error::kStreamCaptureUnsupported;
    if (stream->capturing()) return Error::kIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->into_existing = into != nullptr;
    capture->graph = into ? std::move(into) : std::make_shared<Graph>(context_);
    capture->mode = mode;
    capture->id = next_capture_++;
    capture->origin = stream;
    capture->streams.insert(stream);
    captures_.insert(capture.get());
    stream->capture = std::move(capture);
    stream->last = std::move(dependencies);
    return Error::kSuccess;
}

void Streams::leave(Capture& capture) {
    captures_.erase(&capture);
    const std::set<Stream*> members = capture.streams;
    capture.streams.clear();
    for (Event* event : events_)
        if (event->capture.get() == &capture) event->capture.reset();
    for (Stream* member : members) {
        member->last.clear();
        member->capture.reset();  // the last one may destroy the capture
    }
}

Error Streams::end_capture(Stream* handle, Graph** graph) {
    Stream* stream = find(handle);
    if (!stream) return Error::kInvalidResourceHandle;
    if (!stream->capturing()) return Error::kIllegalState;
    const std::shared_ptr<Capture> capture = stream->capture;
    if (capture->origin != stream) return Error::kStreamCaptureUnmatched;
    Error result = Error::kSuccess;
    if (capture->status != abi::kCaptureActive) result = Error::kStreamCaptureInvalidated;
    std::vector<GraphNode*> ends = capture->left;
    for (const Stream* member : capture->streams)
        ends.insert(ends.end(), member->last.begin(), member->last.end());
    for (const GraphNode* node : ends)
        if (result == Error::kSuccess && !capture->graph->reaches(node, stream->last))
            result = Error::kStreamCaptureUnjoined;
    leave(*capture);
    if (graph) *graph = result == Error::kSuccess ? context_.graphs.keep(capture->graph) : nullptr;
    return result;
}

void Streams::clear() {
    for (Stream* stream : streams_) delete stream;
    for (Event* event : events_) delete event;
    streams_.clear();
    events_.clear();
    captures_.clear();
    legacy_.clear();
    per_thread_.clear();
    destroyed_.clear();
}

}  // namespace lockstep::cuda
