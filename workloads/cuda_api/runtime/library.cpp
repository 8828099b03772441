// SPDX-License-Identifier: Apache-2.0
// Libraries loaded at run time (CUDA 12 and later): a cubin, fatbin or PTX from memory or a file.
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include "isa/cubin/fatbin.h"
#include "workloads/cuda_api/runtime/functions.h"

namespace lockstep::cuda {
namespace {

/// Size of an image that the caller gives by its address alone.
std::size_t image_bytes(const void* image) {
    std::uint32_t magic = 0;
    std::memcpy(&magic, image, sizeof(magic));
    constexpr std::uint32_t kFatbin = 0xba55ed50, kElf = 0x464c457f;
    const auto* bytes = static_cast<const unsigned char*>(image);
    if (magic == kFatbin)
        return cubin::fatbin_bytes(std::span<const std::uint8_t, 16>(bytes, 16),
                                   "a loaded library");
    if (magic == kElf) {
        // The file ends after its section table or its last section or segment.
        std::uint64_t sections = 0;
        std::uint16_t entry = 0, count = 0;
        std::memcpy(&sections, bytes + 0x28, sizeof(sections));
        std::memcpy(&entry, bytes + 0x3a, sizeof(entry));
        std::memcpy(&count, bytes + 0x3c, sizeof(count));
        std::uint64_t end = sections + std::uint64_t{entry} * count;
        for (unsigned i = 0; i < count; ++i) {
            const unsigned char* row = bytes + sections + std::uint64_t{entry} * i;
            std::uint32_t type = 0;
            std::uint64_t offset = 0, size = 0;
            std::memcpy(&type, row + 4, sizeof(type));
            std::memcpy(&offset, row + 0x18, sizeof(offset));
            std::memcpy(&size, row + 0x20, sizeof(size));
            constexpr std::uint32_t kNoBits = 8;
            if (type != kNoBits) end = std::max(end, offset + size);
        }
        std::uint64_t segments = 0;
        std::uint16_t segment_entry = 0, segment_count = 0;
        std::memcpy(&segments, bytes + 0x20, sizeof(segments));
        std::memcpy(&segment_entry, bytes + 0x36, sizeof(segment_entry));
        std::memcpy(&segment_count, bytes + 0x38, sizeof(segment_count));
        return std::max(end, segments + std::uint64_t{segment_entry} * segment_count);
    }
    return std::strlen(static_cast<const char*>(image));  // PTX
}

Error with_library(Module* library, const std::function<Error(Context&, Module&)>& body) {
    return call([&](Context& context) {
        return context.modules.contains(library) ? body(context, *library)
                                                 : Error::kInvalidResourceHandle;
    });
}

Error variable(Module* library, void** address, std::size_t* bytes, const char* name) {
    return with_library(library, [&](Context& context, Module& module) {
        if (!name) return Error::kInvalidValue;
        const auto [pointer, size] = context.device().find_variable(module.handle(), name);
        if (pointer == 0) return Error::kSymbolNotFound;
        if (address) *address = reinterpret_cast<void*>(pointer);
        if (bytes) *bytes = size;
        return Error::kSuccess;
    });
}

}  // namespace

std::vector<std::uint8_t> image_of(const void* code) {
    const auto* bytes = static_cast<const std::uint8_t*>(code);
    abi::FatbinWrapper wrapper{};
    std::memcpy(&wrapper.magic, code, sizeof(wrapper.magic));
    if (wrapper.magic == abi::kFatbinWrapperMagic) {
        std::memcpy(&wrapper, code, sizeof(wrapper));
        bytes = static_cast<const std::uint8_t*>(wrapper.data);
    }
    return {bytes, bytes + image_bytes(bytes)};
}

Error load_library(Context& context, Module** library, std::vector<std::uint8_t> image,
                   const std::string& name) {
    Module* module = context.modules.add(std::move(image), name);
    try {
        context.modules.load(*module);
    } catch (...) {
        context.modules.remove(module);
        throw;
    }
    for (const cubin::Function& function : module->cubin().functions)
        if (function.is_kernel)
            context.modules.register_kernel(*module, nullptr, function.name.c_str());
    *library = module;
    return Error::kSuccess;
}

LOCKSTEP_CUDA Error cudaLibraryLoadData(Module** library, const void* code, void*, void**, unsigned,
                                        void*, void**, unsigned) {
    return call([&](Context& context) {
        if (!library || !code) return Error::kInvalidValue;
        return load_library(context, library, image_of(code), "a loaded library");
    });
}
LOCKSTEP_CUDA Error cudaLibraryLoadFromFile(Module** library, const char* path, void*, void**,
                                            unsigned, void*, void**, unsigned) {
    return call([&](Context& context) {
        if (!library || !path) return Error::kInvalidValue;
        std::ifstream file(path, std::ios::binary);
        if (!file) return Error::kFileNotFound;
        std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
        return load_library(context, library, std::move(bytes), path);
    });
}
LOCKSTEP_CUDA Error cudaLibraryUnload(Module* library) {
    return with_library(library, [&](Context& context, Module&) {
        context.wait_for_all();
        context.modules.remove(library);
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaLibraryGetKernel(Kernel** kernel, Module* library, const char* name) {
    return with_library(library, [&](Context&, Module& module) {
        if (!kernel || !name) return Error::kInvalidValue;
        *kernel = module.find_kernel(name);
        return *kernel ? Error::kSuccess : Error::kSymbolNotFound;
    });
}
LOCKSTEP_CUDA Error cudaLibraryGetKernelCount(unsigned* count, Module* library) {
    return with_library(library, [&](Context&, Module& module) {
        if (!count) return Error::kInvalidValue;
        *count = static_cast<unsigned>(module.kernels().size());
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaLibraryEnumerateKernels(Kernel** kernels, unsigned count, Module* library) {
    return with_library(library, [&](Context&, Module& module) {
        if (!kernels) return Error::kInvalidValue;
        for (unsigned i = 0; i < count && i < module.kernels().size(); ++i)
            kernels[i] = module.kernels()[i].get();
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaLibraryGetGlobal(void** address, std::size_t* bytes, Module* library,
                                         const char* name) {
    return variable(library, address, bytes, name);
}
LOCKSTEP_CUDA Error cudaLibraryGetManaged(void** address, std::size_t* bytes, Module* library,
                                          const char* name) {
    return variable(library, address, bytes, name);
}

}  // namespace lockstep::cuda
