// SPDX-License-Identifier: Apache-2.0
// Memory that the program maps itself: addresses, memory without an address, mappings, access.
// A handle names the device of its memory, which can be mapped where that device's addresses are
// and be accessed by that device only.
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

using Handle = std::uint64_t;

constexpr unsigned kDeviceShift = 48;  ///< of a handle

/// CUmemLocationType, CUmemAllocationType, CUmemAccess_flags
constexpr int kOnDevice = 1, kPinned = 1;
constexpr int kNoAccess = 0, kRead = 1, kReadWrite = 3;

struct Memory {
    int device;
    std::uint64_t number;
};

Memory memory_of(Handle handle) {
    return {static_cast<int>(handle >> kDeviceShift),
            handle & ((std::uint64_t{1} << kDeviceShift) - 1)};
}

/// The calling thread works on a device while this lives.
class Selected {
  public:
    explicit Selected(unsigned device) { cuda::Context::select_device(device); }
    ~Selected() { cuda::Context::select_device(before_); }
    Selected(const Selected&) = delete;
    Selected& operator=(const Selected&) = delete;

  private:
    const unsigned before_ = cuda::Context::current_device();
};

/// The body gets the addresses of a device.
template <class Body>
Error on_device(cuda::Context& context, int device, Body body) {
    if (!context.has_device(device)) return Error::kInvalidDevice;
    const Selected selected(static_cast<unsigned>(device));
    AddressSpace* const space = context.device().address_space();
    return space == nullptr ? Error::kNotSupported : body(*space);
}

/// ... of the device to which an address belongs.
template <class Body>
Result at(Pointer pointer, Body body) {
    return in_device([&](cuda::Context& context) {
        return on_device(context, static_cast<int>(context.owner(host_pointer(pointer))), body);
    });
}

Error check(const abi::MemAllocationProp* properties) {
    if (!properties || properties->type != kPinned) return Error::kInvalidValue;
    // Memory of the host, and memory that other processes can be given, are left out.
    if (properties->location.type != kOnDevice || properties->requestedHandleTypes != 0)
        return Error::kNotSupported;
    return Error::kSuccess;
}

Error done(bool is_done) {
    return is_done ? Error::kSuccess : Error::kInvalidValue;
}

}  // namespace

LOCKSTEP_DRIVER(cuMemGetAllocationGranularity,
                (std::size_t * granularity, const abi::MemAllocationProp* properties, int option)) {
    return in_device([&](cuda::Context& context) {
        if (const Error error = check(properties); error != Error::kSuccess) return error;
        if (option != 0 && option != 1) return Error::kInvalidValue;  // minimum, recommended
        return on_device(context, properties->location.id, [&](AddressSpace& space) {
            return store(granularity, space.granularity());
        });
    });
}

LOCKSTEP_DRIVER(cuMemAddressReserve, (Pointer * pointer, std::size_t bytes, std::size_t alignment,
                                      Pointer, unsigned long long flags)) {
    return in_device([&](cuda::Context& context) {
        const auto device = static_cast<int>(cuda::Context::current_device());
        return on_device(context, device, [&](AddressSpace& space) {
            const bool is_aligned = alignment == 0 || (alignment & (alignment - 1)) == 0;
            if (!pointer || bytes == 0 || bytes % space.granularity() != 0 || !is_aligned ||
                flags != 0)
                return Error::kInvalidValue;
            *pointer = space.reserve(bytes, alignment);
            return *pointer == 0 ? Error::kMemoryAllocation : Error::kSuccess;
        });
    });
}

LOCKSTEP_DRIVER(cuMemAddressFree, (Pointer pointer, std::size_t bytes)) {
    return at(pointer, [&](AddressSpace& space) { return done(space.unreserve(pointer, bytes)); });
}

LOCKSTEP_DRIVER(cuMemCreate, (Handle * handle, std::size_t bytes,
                              const abi::MemAllocationProp* properties, unsigned long long flags)) {
    return in_device([&](cuda::Context& context) {
        if (const Error error = check(properties); error != Error::kSuccess) return error;
        const int device = properties->location.id;
        return on_device(context, device, [&](AddressSpace& space) {
            if (!handle || bytes == 0 || bytes % space.granularity() != 0 || flags != 0)
                return Error::kInvalidValue;
            const std::uint64_t number = space.create(bytes);
            if (number == 0) return Error::kMemoryAllocation;
            return store(handle, number | static_cast<Handle>(device) << kDeviceShift);
        });
    });
}

LOCKSTEP_DRIVER(cuMemRelease, (Handle handle)) {
    return in_device([&](cuda::Context& context) {
        const Memory memory = memory_of(handle);
        return on_device(context, memory.device,
                         [&](AddressSpace& space) { return done(space.release(memory.number)); });
    });
}

LOCKSTEP_DRIVER(cuMemMap, (Pointer pointer, std::size_t bytes, std::size_t offset, Handle handle,
                           unsigned long long flags)) {
    return in_device([&](cuda::Context& context) {
        const Memory memory = memory_of(handle);
        if (offset != 0 || flags != 0) return Error::kInvalidValue;
        if (static_cast<int>(context.owner(host_pointer(pointer))) != memory.device)
            return Error::kNotSupported;
        return on_device(context, memory.device, [&](AddressSpace& space) {
            return done(space.map(pointer, bytes, memory.number));
        });
    });
}

LOCKSTEP_DRIVER(cuMemUnmap, (Pointer pointer, std::size_t bytes)) {
    return at(pointer, [&](AddressSpace& space) { return done(space.unmap(pointer, bytes)); });
}

LOCKSTEP_DRIVER(cuMemSetAccess, (Pointer pointer, std::size_t bytes, const abi::MemAccessDesc* list,
                                 std::size_t count)) {
    return in_device([&](cuda::Context& context) {
        const auto owner = static_cast<int>(context.owner(host_pointer(pointer)));
        if (!list || count == 0) return Error::kInvalidValue;
        for (std::size_t i = 0; i < count; ++i) {
            const auto [location, flags] = list[i];
            if (flags != kNoAccess && flags != kRead && flags != kReadWrite)
                return Error::kInvalidValue;
            if (location.type != kOnDevice) return Error::kNotSupported;
            if (!context.has_device(location.id)) return Error::kInvalidDevice;
            if (location.id != owner && flags != kNoAccess) return Error::kNotSupported;
        }
        for (std::size_t i = 0; i < count; ++i) {
            if (list[i].location.id != owner) continue;
            const Access access = list[i].flags == kNoAccess ? Access::kNone
                                  : list[i].flags == kRead   ? Access::kRead
                                                             : Access::kReadWrite;
            const Error error = on_device(context, owner, [&](AddressSpace& space) {
                return done(space.set_access(pointer, bytes, access));
            });
            if (error != Error::kSuccess) return error;
        }
        return Error::kSuccess;
    });
}

LOCKSTEP_DRIVER(cuMemGetAccess,
                (unsigned long long* flags, const abi::MemLocation* location, Pointer pointer)) {
    return in_device([&](cuda::Context& context) {
        const auto owner = static_cast<int>(context.owner(host_pointer(pointer)));
        if (!location || location->type != kOnDevice) return Error::kInvalidValue;
        return on_device(context, owner, [&](AddressSpace& space) {
            const AddressSpace::Mapping mapping = space.at(pointer);
            if (mapping.memory == 0) return Error::kInvalidValue;
            if (location->id != owner || mapping.access == Access::kNone)
                return store(flags, kNoAccess);
            return store(flags, mapping.access == Access::kRead ? kRead : kReadWrite);
        });
    });
}

LOCKSTEP_DRIVER(cuMemGetAllocationPropertiesFromHandle,
                (abi::MemAllocationProp * properties, Handle handle)) {
    return in_device([&](cuda::Context& context) {
        const Memory memory = memory_of(handle);
        return on_device(context, memory.device, [&](AddressSpace& space) {
            if (space.bytes_of(memory.number) == 0) return Error::kInvalidValue;
            return store(properties, abi::MemAllocationProp{
                                         .type = kPinned, .location = {kOnDevice, memory.device}});
        });
    });
}

LOCKSTEP_DRIVER(cuMemRetainAllocationHandle, (Handle * handle, void* address)) {
    return in_device([&](cuda::Context& context) {
        const auto owner = static_cast<int>(context.owner(address));
        return on_device(context, owner, [&](AddressSpace& space) {
            const std::uint64_t memory = space.at(reinterpret_cast<Pointer>(address)).memory;
            if (memory == 0 || !handle) return Error::kInvalidValue;
            space.hold(memory);
            return store(handle, memory | static_cast<Handle>(owner) << kDeviceShift);
        });
    });
}

}  // namespace lockstep::cuda::driver
