// SPDX-License-Identifier: Apache-2.0
// Streams and events. Work is done when it is submitted, so a stream keeps no queue; what it keeps
// is the graph it is being captured into.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <unordered_set>
#include <vector>

#include "workloads/cuda_api/state/abi.h"
#include "workloads/cuda_api/state/operation.h"

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
    std::shared_ptr<Capture> capture;
    std::vector<GraphNode*> last;  ///< what the next captured node depends on
    bool capturing() const { return capture != nullptr; }
};

class Event {
  public:
    unsigned flags = 0;  ///< cudaEventDisableTiming: 2
    bool recorded = false;
    double seconds = 0;                ///< of simulated time
    std::shared_ptr<Capture> capture;  ///< recorded in a capturing stream
    std::vector<GraphNode*> nodes;

    void record(double now) {
        recorded = true;
        seconds = now;
        capture.reset();
    }
};

class Streams {
  public:
    explicit Streams(Context& context);
    ~Streams();

    /// The stream of a handle: 0 and 1 are the legacy default stream, 2 is the one per thread.
    /// Nullptr: no such stream.
    Stream* find(Stream* handle);
    bool is_legacy(const Stream* stream) const { return stream == legacy_.get(); }
    Stream* create(unsigned flags, int priority);
    Error destroy(Stream* handle);

    Event* create_event(unsigned flags);
    bool is_event(Event* event) const { return events_.contains(event); }
    Error destroy_event(Event* event);

    /// Executes the operation now, or adds it to the graph the stream is captured into.
    Error submit(Stream* handle, const Operation& operation);
    /// What a call that waits for a stream (or, with nullptr, for the device) reports while
    /// something is captured.
    Error check_wait(Stream* handle);
    Error check_wait_all();

    Error record(Event* event, Stream* handle);
    Error wait(Stream* handle, Event* event);

    Error begin_capture(Stream* handle, abi::CaptureMode mode, std::shared_ptr<Graph> into = {},
                        std::vector<GraphNode*> dependencies = {});
    Error end_capture(Stream* handle, Graph** graph);
    void clear();

  private:
    Error check_implicit(const Stream* stream);
    void leave(Capture& capture);

    Context& context_;
    std::unique_ptr<Stream> legacy_, per_thread_;
    std::unordered_set<Stream*> streams_;
    std::unordered_set<Event*> events_;
    std::set<Capture*> captures_;
    unsigned long long next_id_ = 1, next_capture_ = 1;
};

}  // namespace lockstep::cuda
