// SPDX-License-Identifier: Apache-2.0
#include "isa/cubin/demangle.h"

#include <cxxabi.h>

#include <cstdlib>

namespace lockstep::cubin {

std::string demangled(const std::string& symbol) {
    int status = 0;
    char* text = ::abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string result = status == 0 && text != nullptr ? text : symbol;
    std::free(text);
    return result;
}

}  // namespace lockstep::cubin
