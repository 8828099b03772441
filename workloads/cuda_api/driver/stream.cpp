// SPDX-License-Identifier: Apache-2.0
// Streams, events, and graphs that were captured.
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

Result context_of(Stream* stream, ContextHandle** context) {
    return in_context([&](cuda::Context& state) {
        if (!state.streams.find(stream)) return Error::kInvalidResourceHandle;
        return store(context, current_context());
    });
}

}  // namespace

LOCKSTEP_DRIVER(cuStreamCreate, (Stream * *stream, unsigned flags)) {
    return call([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
LOCKSTEP_DRIVER(cuStreamCreateWithPriority, (Stream * *stream, unsigned flags, int priority)) {
    return call([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
LOCKSTEP_DRIVER(cuStreamDestroy_v2, (Stream * stream)) {
    return call([&] { return cudaStreamDestroy(stream); });
}
LOCKSTEP_DRIVER(cuStreamSynchronize, (Stream * stream)) {
    return call([&] { return cudaStreamSynchronize(stream); });
}
LOCKSTEP_DRIVER(cuStreamQuery, (Stream * stream)) {
    return call([&] { return cudaStreamQuery(stream); });
}
LOCKSTEP_DRIVER(cuStreamWaitEvent, (Stream * stream, Event* event, unsigned flags)) {
    return call([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
LOCKSTEP_DRIVER(cuStreamGetPriority, (Stream * stream, int* priority)) {
    return call([&] { return cudaStreamGetPriority(stream, priority); });
}
LOCKSTEP_DRIVER(cuStreamGetFlags, (Stream * stream, unsigned* flags)) {
    return call([&] { return cudaStreamGetFlags(stream, flags); });
}
LOCKSTEP_DRIVER(cuStreamGetId, (Stream * stream, unsigned long long* id)) {
    return call([&] { return cudaStreamGetId(stream, id); });
}
LOCKSTEP_DRIVER(cuStreamGetDevice, (Stream * stream, Device* device)) {
    return call([&] { return cudaStreamGetDevice(stream, device); });
}
LOCKSTEP_DRIVER(cuStreamGetCtx, (Stream * stream, ContextHandle** context)) {
    return context_of(stream, context);
}
LOCKSTEP_DRIVER(cuStreamAddCallback,
                (Stream * stream, abi::StreamCallback function, void* data, unsigned flags)) {
    return call([&] { return cudaStreamAddCallback(stream, function, data, flags); });
}
LOCKSTEP_DRIVER(cuStreamSetAttribute, (Stream * stream, abi::LaunchAttributeId which,
                                       const abi::LaunchAttributeValue* value)) {
    return call([&] { return cudaStreamSetAttribute(stream, which, value); });
}
LOCKSTEP_DRIVER(cuStreamGetAttribute,
                (Stream * stream, abi::LaunchAttributeId which, abi::LaunchAttributeValue* value)) {
    return call([&] { return cudaStreamGetAttribute(stream, which, value); });
}
LOCKSTEP_DRIVER(cuStreamCopyAttributes, (Stream * to, Stream* from)) {
    return call([&] { return cudaStreamCopyAttributes(to, from); });
}
LOCKSTEP_DRIVER(cuStreamBeginCapture_v2, (Stream * stream, abi::CaptureMode mode)) {
    return call([&] { return cudaStreamBeginCapture(stream, mode); });
}
LOCKSTEP_DRIVER(cuStreamEndCapture, (Stream * stream, Graph** graph)) {
    return call([&] { return cudaStreamEndCapture(stream, graph); });
}
LOCKSTEP_DRIVER(cuStreamIsCapturing, (Stream * stream, abi::CaptureStatus* status)) {
    return call([&] { return cudaStreamIsCapturing(stream, status); });
}
LOCKSTEP_DRIVER(cuThreadExchangeStreamCaptureMode, (abi::CaptureMode * mode)) {
    return call([&] { return cudaThreadExchangeStreamCaptureMode(mode); });
}

LOCKSTEP_DRIVER(cuEventCreate, (Event * *event, unsigned flags)) {
    return call([&] { return cudaEventCreateWithFlags(event, flags); });
}
LOCKSTEP_DRIVER(cuEventDestroy_v2, (Event * event)) {
    return call([&] { return cudaEventDestroy(event); });
}
LOCKSTEP_DRIVER(cuEventRecord, (Event * event, Stream* stream)) {
    return call([&] { return cudaEventRecord(event, stream); });
}
LOCKSTEP_DRIVER(cuEventRecordWithFlags, (Event * event, Stream* stream, unsigned flags)) {
    return call([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
LOCKSTEP_DRIVER(cuEventQuery, (Event * event)) {
    return call([&] { return cudaEventQuery(event); });
}
LOCKSTEP_DRIVER(cuEventSynchronize, (Event * event)) {
    return call([&] { return cudaEventSynchronize(event); });
}
LOCKSTEP_DRIVER(cuEventElapsedTime, (float* milliseconds, Event* start, Event* end)) {
    return call([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
LOCKSTEP_DRIVER(cuEventElapsedTime_v2, (float* milliseconds, Event* start, Event* end)) {
    return call([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

// There is no profiler to start: --stats counts every launch.
LOCKSTEP_DRIVER(cuProfilerStart, ()) {
    return call([] { return Error::kSuccess; });
}
LOCKSTEP_DRIVER(cuProfilerStop, ()) {
    return call([] { return Error::kSuccess; });
}

}  // namespace lockstep::cuda::driver
