// SPDX-License-Identifier: Apache-2.0
// What a workload does to a device, in few numbers.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/forwarding_device.h"

namespace lockstep::cuda {

/// What a run left behind: the hash of every allocation after every launch, and the counts.
struct Trace {
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint64_t> instructions;
    std::vector<std::uint64_t> cycles;
    std::vector<std::string> metrics;  ///< of all launches, each with its name
    bool operator==(const Trace&) const = default;
};

/// Hands everything to a device and keeps the trace.
class Recorder : public ForwardingDevice {
  public:
    using ForwardingDevice::ForwardingDevice;

    const Trace& trace() const { return trace_; }

    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override {
        const DevicePointer pointer = device().allocate(bytes, kind);
        allocations_[pointer] = bytes;
        return pointer;
    }
    bool free(DevicePointer pointer) override {
        allocations_.erase(pointer);
        return device().free(pointer);
    }
    LaunchResult launch(const LaunchRequest& request) override {
        const LaunchResult result = device().launch(request);
        trace_.instructions.push_back(result.warp_instructions);
        trace_.instructions.push_back(result.thread_instructions);
        trace_.cycles.push_back(result.cycles);
        for (const auto& [name, value] : result.metrics)
            trace_.metrics.push_back(fmt::format("{}: {} {:a}", name, value.count, value.number));
        for (const auto& [pointer, bytes] : allocations_)
            trace_.hashes.push_back(hash(pointer, bytes));
        return result;
    }

  private:
    /// FNV-1a.
    static std::uint64_t hash(DevicePointer pointer, std::uint64_t bytes) {
        std::uint64_t value = 0xcbf29ce484222325;
        const auto* data = reinterpret_cast<const unsigned char*>(pointer);
        for (std::uint64_t i = 0; i < bytes; ++i) value = (value ^ data[i]) * 0x100000001b3;
        return value;
    }

    std::map<DevicePointer, std::uint64_t> allocations_;
    Trace trace_;
};

}  // namespace lockstep::cuda
