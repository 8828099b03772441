// SPDX-License-Identifier: Apache-2.0
// Streams and events. What a stream has to do is kept by the device's time line, or done at once
// where there is none; a stream keeps the graph it is being captured into.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "workloads/cuda_api/state/abi.h"
#include "workloads/cuda_api/state/operation.h"
#include "workloads/cuda_api/state/timed_work.h"

namespace lockstep::cuda {

class Context;

/// A capture in progress: all streams that take part in it share one.
struct Capture {
    std::shared_ptr<Graph> graph;
    Graph* handle = nullptr;  ///< what the program gets at the end
    abi::CaptureMode mode = abi::kCaptureGlobal;
    abi::CaptureStatus status = abi::kCaptureActive;
    unsigned long long id = 0;
    Stream* origin = nullptr;
    std::set<Stream*> streams;
    std::vector<GraphNode*> left;  ///< last nodes of streams destroyed meanwhile
    bool into_existing = false;    ///< cudaStreamBeginCaptureToGraph
};

class Stream {
  public:
    unsigned flags = 0;  ///< cudaStreamNonBlocking: 1
    int priority = 0;
    unsigned long long id = 0;
    unsigned device = 0;
    bool is_legacy = false;  ///< the device's default stream
    std::shared_ptr<Capture> capture;
    std::vector<GraphNode*> last;  ///< what the next captured node depends on
    bool capturing() const { return capture != nullptr; }
    std::optional<StreamId> queue;  ///< on the device's time line, from the first use on
};

class Event {
  public:
    unsigned flags = 0;  ///< cudaEventDisableTiming: 2
    unsigned device = 0;
    bool recorded = false;
    double seconds = 0;  ///< of simulated time, where there is no time line
    WorkId work = 0;     ///< on a time line: the mark
    std::shared_ptr<SimulatedTime> at =
        std::make_shared<SimulatedTime>(0);  ///< when it was reached
    std::shared_ptr<Capture> capture;        ///< recorded in a capturing stream
    std::vector<GraphNode*> nodes;

    void record(double now) {
        recorded = true;
        seconds = now;
        capture.reset();
    }
    /// The same on a time line: to be submitted.
    MarkWork mark();
    double time() const { return work != 0 ? static_cast<double>(*at) * 1e-12 : seconds; }
};

class Streams {
  public:
    explicit Streams(Context& context);
    ~Streams();

    /// The stream of a handle: 0 and 1 are the legacy default stream, 2 is the one per thread.
    /// Nullptr: no such stream.
    Stream* find(Stream* handle);
    bool is_legacy(const Stream* stream) const { return stream->is_legacy; }
    Stream* create(unsigned flags, int priority);
    Error destroy(Stream* handle);

    Event* create_event(unsigned flags);
    bool is_event(Event* event) const { return events_.contains(event); }
    Error destroy_event(Event* event);

    /// Executes the operation, now or when its turn comes, or adds it to the graph the stream is
    /// captured into.
    Error submit(Stream* handle, const Operation& operation,
                 Returns returns = Returns::kWhenSubmitted);
    /// What a call that waits for a stream (or, with nullptr, for the device) reports while
    /// something is captured.
    Error check_wait(Stream* handle);
    Error check_wait_all();

    /// The calls of these names.
    Error synchronize(Stream* handle);
    Error query(Stream* handle);
    Error synchronize_all();
    Error synchronize(Event* event);
    Error query(Event* event);
    Error set_priority(Stream& stream, int priority);

    Error record(Event* event, Stream* handle);
    Error wait(Stream* handle, Event* event);

    Error begin_capture(Stream* handle, abi::CaptureMode mode, std::shared_ptr<Graph> into = {},
                        std::vector<GraphNode*> dependencies = {});
    Error end_capture(Stream* handle, Graph** graph);
    void clear();

  private:
    Error check_implicit(const Stream* stream);
    StreamId queue_of(Stream& stream);
    /// The calling thread's default stream on its device, and the device's.
    Stream* per_thread();
    Stream* legacy();
    void leave(Capture& capture);

    Context& context_;
    std::map<unsigned, std::unique_ptr<Stream>> legacy_;    ///< by device
    std::vector<std::pair<unsigned, StreamId>> destroyed_;  ///< device and queue
    std::map<std::pair<std::thread::id, unsigned>, std::unique_ptr<Stream>> per_thread_;
    std::unordered_set<Stream*> streams_;
    std::unordered_set<Event*> events_;
    std::set<Capture*> captures_;
    unsigned long long next_id_ = 1, next_capture_ = 1;
};

}  // namespace lockstep::cuda
