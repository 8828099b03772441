// SPDX-License-Identifier: Apache-2.0
// How a program submits work that takes its time: streams, kernels, transfers, marks, and a host
// whose clock runs beside. Simulated time goes on only where somebody waits or asks; see
// models/system/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "models/device.h"

namespace lockstep {

/// Picoseconds since the device was made.
using SimulatedTime = std::uint64_t;

/// Work in a stream is done in order.
using StreamId = std::uint32_t;
inline constexpr StreamId kDefaultStream = 0;  ///< the legacy one of device 0, which others join
inline constexpr StreamId kNoStream = ~0u;     ///< ordered by what it is said to follow, alone

/// A piece of submitted work. Numbers rise; 0 is none, which counts as done.
using WorkId = std::uint64_t;

struct StreamOptions {
    int priority = 0;           ///< as in CUDA: CTAs of smaller numbers are placed sooner
    bool joins_default = true;  ///< waits for the legacy default stream, and that for it
    unsigned device = 0;
    bool is_default = false;  ///< the legacy one of another device than 0
};

struct KernelWork {
    LaunchRequest request;  ///< but its parameters, which are these:
    std::vector<std::byte> parameters;
    std::function<void(const LaunchResult&)> ended;
    /// The kernel ahead of it whose end it awaits on the device, by griddepcontrol.wait: it begins
    /// when that kernel's CTAs have triggered it or ended. Set by the time line where
    /// request.programmatic.
    WorkId prerequisite = 0;
    unsigned device = 0;
};

enum class TransferKind : std::uint8_t {
    kHostToDevice,
    kDeviceToHost,
    kDeviceToDevice,
    kHostToHost,
    kFill,        ///< of device memory
    kPeerToPeer,  ///< between two devices
};
inline constexpr unsigned kTransferKinds = 6;

struct TransferWork {
    TransferKind kind = TransferKind::kHostToDevice;
    std::uint64_t bytes = 0;
    bool is_pageable = false;       ///< the host's end: the data goes through pinned buffers
    std::function<void()> perform;  ///< changes memory; when the transfer ends
    unsigned device = 0;            ///< whose memory it is; from which it goes to a peer
    unsigned peer = 0;
    bool is_staged = false;  ///< between devices: through the host's memory
};

/// A function of the program's, which the host runs when its turn has come.
struct HostWork {
    std::function<void()> call;
};

/// Takes no time; done when all before it is. An event, or where a graph begins and ends.
struct MarkWork {
    std::function<void(SimulatedTime)> reached;
};

using Work = std::variant<KernelWork, TransferWork, HostWork, MarkWork>;

/// How work comes to the device.
enum class Submission : std::uint8_t {
    kByItself,  ///< by a call of its own, which costs the host time
    kByGraph,   ///< with a graph's launch
};

/// What costs the host time without submitting work.
enum class HostAction : std::uint8_t { kCall, kGraphLaunch };

/// Not thread-safe: callers hold one lock. ended(), perform(), call() and reached() are called from
/// within step(), poll() and submit(); call() may give the lock away meanwhile.
class Timeline {
  public:
    virtual ~Timeline() = default;

    virtual StreamId open_stream(const StreamOptions& options) = 0;
    /// What is in the stream is still done.
    virtual void close_stream(StreamId stream) = 0;
    virtual void set_priority(StreamId stream, int priority) = 0;

    /// Puts work into a stream, to begin after all of `after`, too. Throws LaunchRefused.
    virtual WorkId submit(StreamId stream, Work work, const std::vector<WorkId>& after = {},
                          Submission how = Submission::kByItself) = 0;

    virtual void spend(HostAction action) = 0;
    /// The host asks how far the device is, which takes time and lets the device come as far.
    /// Throws DeviceFault.
    virtual void poll() = 0;

    virtual bool is_done(WorkId work) const = 0;
    /// All that is in the stream (kNoStream: everywhere) has been done.
    virtual bool is_idle(StreamId stream) const = 0;

    /// The host waits and the device goes on, by a bounded step. False where nothing can go on any
    /// more. Throws DeviceFault; all work is gone then.
    virtual bool step() = 0;
    /// The host has waited until now and goes on.
    virtual void resume_host() = 0;
    /// What runs on the device waits for memory that no submitted work will change any more.
    virtual bool is_stuck() const = 0;
    /// Who waits for what, a line each.
    virtual std::string explain_wait() const = 0;

    /// The host's clock.
    virtual SimulatedTime now() const = 0;
    /// Where the time went, by kind; empty where nothing was submitted.
    virtual std::string report() const = 0;
};

}  // namespace lockstep
