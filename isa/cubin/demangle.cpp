// SPDX-License-Identifier: Apache-2.0
// nvcc mangles by the Itanium C++ ABI, like the host's compiler.
#include "isa/cubin/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace lockstep::cubin {

std::string demangled(const std::string& symbol) {
    // Without the prefix the host would read "f" as a type, float.
    if (!symbol.starts_with("_Z")) return symbol;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : symbol;
}

}  // namespace lockstep::cubin
