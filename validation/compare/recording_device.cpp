// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/recording_device.h"

namespace lockstep::validation {

DevicePointer RecordingDevice::allocate(std::uint64_t bytes, MemoryKind kind) {
    const DevicePointer pointer = device().allocate(bytes, kind);
    if (pointer != 0) log_.add(pointer, bytes);
    return pointer;
}

bool RecordingDevice::free(DevicePointer pointer) {
    log_.remove(pointer);
    if (const auto backup = backups_.extract(pointer)) device().free(backup.mapped());
    return device().free(pointer);
}

void RecordingDevice::restore() {
    for (const DevicePointer pointer : log_.restore()) {
        const std::uint64_t bytes = log_.allocations().at(pointer).bytes;
        DevicePointer& backup = backups_[pointer];
        if (backup == 0) backup = device().allocate(bytes, MemoryKind::kDevice);
        device().note_transfer(backup, bytes, Transfer::kRead);
        device().note_transfer(pointer, bytes, Transfer::kWrite);
    }
}

LaunchResult RecordingDevice::launch(const LaunchRequest& request) {
    log_.before_launch();
    if (options_.twice) {
        device().launch(request);
        restore();
    }
    const LaunchResult result = device().launch(request);
    launches_.push_back(
        {request.kernel, request.grid, request.block, result,
         log_.after_launch(options_.keep_outputs ? AllocationLog::kMaximumBytes : 0)});
    return result;
}

}  // namespace lockstep::validation
