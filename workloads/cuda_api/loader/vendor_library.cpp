// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/loader/vendor_library.h"

#include <fmt/format.h>

namespace lockstep::cuda {
namespace {

struct VendorLibrary {
    std::string_view prefix, product;
    bool partly;  ///< works without the driver
};
constexpr VendorLibrary kLibraries[] = {
#include "workloads/cuda_api/loader/vendor_libraries.inc"
};

std::string_view name_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == path.npos ? path : path.substr(slash + 1);
}

const VendorLibrary* find(std::string_view file_name) {
    const std::string_view name = name_of(file_name);
    for (const VendorLibrary& library : kLibraries)
        if (name.starts_with(library.prefix) && name.find(".so") != name.npos) return &library;
    return nullptr;
}

}  // namespace

std::string_view vendor_library(std::string_view file_name) {
    const VendorLibrary* const library = find(file_name);
    return library && !library->partly ? library->product : std::string_view();
}

bool works_partly(std::string_view file_name) {
    const VendorLibrary* const library = find(file_name);
    return library && library->partly;
}

std::string vendor_library_message(std::string_view file_name, std::string_view user) {
    return fmt::format(
        "{} needs {} ({}), which works only on NVIDIA's own driver: not supported. What works: "
        "your own kernels, and libraries compiled into the program (CUB, Thrust, CUTLASS)",
        user, name_of(file_name), vendor_library(file_name));
}

}  // namespace lockstep::cuda
