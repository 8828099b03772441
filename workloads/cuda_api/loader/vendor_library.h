// SPDX-License-Identifier: Apache-2.0
// Libraries of NVIDIA's that work only on NVIDIA's own driver (vendor_libraries.txt).
#pragma once

#include <string>
#include <string_view>

namespace lockstep::cuda {

/// The product that a library file belongs to (cuBLAS for "libcublas.so.13"), with or without its
/// folder; empty where it is none of these, or a part of it works.
std::string_view vendor_library(std::string_view file_name);

/// A library of which a part works without the driver, so that it may be loaded.
bool works_partly(std::string_view file_name);

/// Why such a library cannot be used, and what works, in one line. `user`: who asks for it.
std::string vendor_library_message(std::string_view file_name, std::string_view user);

}  // namespace lockstep::cuda
